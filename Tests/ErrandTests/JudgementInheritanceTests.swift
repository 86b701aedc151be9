import Errand
import ErrandTesting
import FoundationEssentials
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandModel

/// What a response is judged by: the override's, the command's, the client's.
@Suite struct JudgementInheritanceTests {
    private struct Plain: Command {
        var path = "a"
        typealias Response = String
    }

    private struct Own: Command {
        var path = "a"
        var acceptedStatusCodes: StatusCodes { .successful }
        var acceptedContentTypes: ContentTypes { .any }
        typealias Response = String
    }

    private func client(
        status: Int = 200, type: String = "text/plain", body: String = "{}",
        _ change: (inout Client.Settings) -> Void = { _ in }
    ) -> Client {
        let response = Response(statusCode: status, headers: [.contentType: type], body: Array(body.utf8))
        return Client.stubbed(StubTransport { _ in .response(response) }) { change(&$0.settings) }
    }

    @Test func theClientsStatusCodesAreForCommandsThatHaveNone() async {
        let client = client(status: 404) { $0.acceptedStatusCodes = [404] }
        await #expect(throws: Never.self) { try await client.run(Plain()) }
        let error = await #expect(throws: ErrandError.statusNotAccepted) { try await client.run(Own()) }
        #expect(error?.message == "the status is 404, expected 200-299")
        var overrides = RequestOverrides()
        overrides.acceptedStatusCodes = .in(400...499)
        await #expect(throws: Never.self) { try await client.run(Own(), overrides: overrides) }
        overrides.acceptedStatusCodes = .inherited
        await #expect(throws: Never.self) { try await client.run(Own(), overrides: overrides) }
        client.reconfigure { $0.acceptedStatusCodes = .inherited }
        await #expect(throws: ErrandError.statusNotAccepted) { try await client.run(Plain()) }
    }

    @Test func soAreItsContentTypes() async {
        let client = client { $0.acceptedContentTypes = .json }
        await #expect(throws: ErrandError.contentTypeNotAccepted) { try await client.run(Plain()) }
        await #expect(throws: Never.self) { try await client.run(Own()) }
        var overrides = RequestOverrides()
        overrides.acceptedContentTypes = ["text/*"]
        await #expect(throws: Never.self) { try await client.run(Plain(), overrides: overrides) }
        overrides.acceptedContentTypes = .xml
        await #expect(throws: ErrandError.contentTypeNotAccepted) { try await client.run(Own(), overrides: overrides) }
    }

    private struct Dated: Decodable, Sendable, Equatable { var when: Date }
    private struct GetDated: Command {
        var path = "a"
        typealias Response = Dated
    }
    private struct GetSeconds: Command {
        var path = "a"
        typealias Response = Dated
        var jsonDecoder: JSONDecoder { JudgementInheritanceTests.decoder(.secondsSince1970) }
    }

    private static func decoder(_ strategy: JSONDecoder.DateDecodingStrategy) -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = strategy
        return decoder
    }

    @Test func soIsItsDecoder() async throws {
        let client = client(body: #"{"when": 5}"#) { $0.jsonDecoder = Self.decoder(.millisecondsSince1970) }
        #expect(try await client.run(GetDated()).when == Date(timeIntervalSince1970: 0.005))
        #expect(try await client.run(GetSeconds()).when == Date(timeIntervalSince1970: 5))
        var overrides = RequestOverrides()
        overrides.jsonDecoder = Self.decoder(.deferredToDate)
        #expect(
            try await client.run(GetSeconds(), overrides: overrides).when == Date(timeIntervalSinceReferenceDate: 5))
        let request = client.start(Plain())
        await client.shutdown()
        #expect(try request.response?.decode(Dated.self).when == Date(timeIntervalSince1970: 0.005))
    }

    @Test func anOverridesShapeTakesThePlaceOfTheCommands() async {
        struct Shaped: Command {
            var path = "a"
            var shape: JSONShape? { ["id": .integer] }
            typealias Response = String
        }
        let client = client(body: #"{"name": "x"}"#)
        await #expect(throws: ErrandError.shapeMismatch) { try await client.run(Shaped()) }
        var overrides = RequestOverrides()
        overrides.shape = ["name": .string]
        await #expect(throws: Never.self) { try await client.run(Shaped(), overrides: overrides) }
        overrides.shape = ["name": .integer]
        await #expect(throws: ErrandError.shapeMismatch) { try await client.run(Plain(), overrides: overrides) }
    }

    private struct Refused: Error, Equatable { var by: String }
    private struct Validated: Command {
        var path = "a"
        var isRefused: Bool
        typealias Response = String
        var validator: (@Sendable (String, Errand.Response) async throws -> Void)? {
            { [isRefused] _, _ in if isRefused { throw Refused(by: "command") } }
        }
    }

    @Test(arguments: [false, true]) func anOverridesValidatorComesAfterTheCommands(isRefused: Bool) async {
        let client = client(status: 201)
        var overrides = RequestOverrides()
        overrides.validator = { response in
            // Pause: a validator that waits.
            try await Task.sleep(for: .milliseconds(1))
            throw Refused(by: "override of \(response.statusCode)")
        }
        let by = isRefused ? "command" : "override of 201"
        let error = await #expect(throws: ErrandError.validationFailed) {
            try await client.run(Validated(isRefused: isRefused), overrides: overrides)
        }
        #expect(error?.underlyingError as? Refused == Refused(by: by))
        #expect(error?.response?.statusCode == 201)
        guard !isRefused else { return }
        await #expect(throws: ErrandError.validationFailed) { try await client.run(Plain(), overrides: overrides) }
        let request = client.start(Plain(), overrides: overrides)
        await client.shutdown()
        #expect(request.error == .validationFailed && request.value == nil)
    }

    @Test func streamsInheritToo() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub) { $0.settings.acceptedStatusCodes = [404] }
        async let streamed = client.stream(Plain())
        let id = try await stub.opened()
        stub.sendHead(404, to: id)
        #expect(try await streamed.statusCode == 404)
        await client.shutdown(.cancel)
    }

    @Test func shapeAndValidatorAreNotForStreams() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        var overrides = RequestOverrides()
        overrides.shape = ["id": .integer]
        overrides.validator = { _ in throw Refused(by: "override") }
        async let streamed = client.stream(Plain(), overrides: overrides)
        let id = try await stub.opened()
        stub.sendHead(200, to: id)
        stub.sendChunk(Array("text".utf8), to: id)
        let response = try await streamed
        stub.complete(id, with: .response(Response(statusCode: 200)))
        var bytes: [UInt8] = []
        for try await chunk in response.body { bytes += chunk }
        #expect(bytes == Array("text".utf8))
        await client.shutdown(.cancel)
    }

    /// What runs goes on by what it was built by.
    @Test func aChangeOfTheSettingsIsForLaterRequests() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub) { $0.settings.jsonDecoder = Self.decoder(.secondsSince1970) }
        let request = client.start(GetDated())
        let id = try await stub.opened()
        client.reconfigure {
            $0.acceptedStatusCodes = [404]
            $0.acceptedContentTypes = .xml
            $0.jsonDecoder = Self.decoder(.millisecondsSince1970)
        }
        stub.complete(id, with: .response(Response(statusCode: 200, body: Array(#"{"when": 5}"#.utf8))))
        await client.shutdown()
        #expect(request.value?.when == Date(timeIntervalSince1970: 5))
    }

    /// However the response came to its reader.
    @Test func everyResponseHasTheDecoderOfItsRequest() async throws {
        let body = Array(#"{"when": 5}"#.utf8)
        let seconds = Date(timeIntervalSince1970: 5)
        for failure in [
            ErrandError.partialBody.with(response: Response(statusCode: 200, body: body)), .tooManyRedirects, nil,
        ] {
            let client = Client.stubbed(
                StubTransport { _ in
                    failure == .tooManyRedirects
                        ? .response(Response(statusCode: 302, headers: [.location: "/a"], body: body))
                        : failure.map { .failure($0) } ?? .response(Response(statusCode: 500, body: body))
                })
            let error = await #expect(throws: ErrandError.self) { try await client.run(GetSeconds()) }
            #expect(try error?.response?.decode(Dated.self).when == seconds)
            #expect(try error?.response?.decode(Dated.self, using: GetDated().jsonDecoder).when == seconds)
        }
        // A command that reads another's response goes by its own.
        let client = client(body: #"{"when": 5}"#) { $0.jsonDecoder = Self.decoder(.millisecondsSince1970) }
        let response = try await client.run(RawCommand(url: "a"))
        #expect(try GetSeconds().decode(response).when == seconds)
        #expect(try GetDated().decode(response).when == Date(timeIntervalSince1970: 0.005))
    }

    @Test func statusCodesAreASet() {
        #expect(StatusCodes.successful.contains(200) && StatusCodes.successful.contains(299))
        #expect(!StatusCodes.successful.contains(199) && !StatusCodes.successful.contains(300))
        #expect(StatusCodes.any.contains(999) && StatusCodes.any.description == "any")
        #expect(([] as StatusCodes).contains(200) == false)
        let both = StatusCodes.successful.union([404, 410]).union(.in(200...299))
        #expect(both.contains(404) && both.contains(204) && !both.contains(405))
        #expect(both.description == "200-299, 404, 410")
        #expect(StatusCodes.any.union([1]) == .any && StatusCodes.inherited.contains(204))
        #expect(StatusCodes.in(Int.min...Int.max).description == "\(Int.min)-\(Int.max)")
        #expect(StatusCodes.inherited != .successful && ContentTypes.inherited != .any)
    }
}
