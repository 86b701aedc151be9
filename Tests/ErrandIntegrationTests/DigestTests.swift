import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandEngine
@testable import ErrandModel

/// Digest by libcurl, from the description to a server that computes the hash itself.
@Suite struct DigestTests {
    private func end(
        _ authentication: ServerAuthentication?, _ change: (inout RequestDescription) -> Void = { _ in },
        steps: [ScriptedServer.Step]
    ) async throws -> (TransferResult, [ScriptedServer.RecordedRequest]) {
        let server = try ScriptedServer()
        try server.on("/private", steps)
        let transport = ReactorTransport(Client.Configuration())
        var description = try RequestBuilder(Client.Configuration.patient())
            .description(of: RawCommand(method: .post, url: server.url("/private"), body: .string("body")))
        description.authentication = authentication
        change(&description)
        let receiver = RecordingReceiver()
        let result: TransferResult
        do {
            _ = try transport.submit(description, for: receiver)
            result = try await receiver.result()
        } catch let error as ErrandError {
            result = .failure(error)
        }
        await withCheckedContinuation { continuation in transport.shutdown { continuation.resume() } }
        return (result, server.requests)
    }

    @Test(arguments: [false, true])
    func theRightPasswordOpens(sha256: Bool) async throws {
        let (result, requests) = try await end(
            .digest(username: "ada", password: "p\u{e4}ss"),
            steps: [.digest(username: "ada", password: "p\u{e4}ss", sha256: sha256), .echo])
        guard case .response(let response) = result else { return #expect(Bool(false), "\(result)") }
        #expect(response.statusCode == 200)
        #expect(requests.map(\.bodyLength) == [0, 4])
        #expect(requests[0].values(of: "Authorization").isEmpty)
    }

    @Test func theWrongOneIsA401() async throws {
        let (result, requests) = try await end(
            .digest(username: "ada", password: "wrong"), steps: [.digest(username: "ada", password: "right"), .echo])
        guard case .response(let response) = result else { return #expect(Bool(false), "\(result)") }
        #expect(response.statusCode == 401)
        #expect(requests.count == 2)
    }

    @Test func wrongInputIsATypedError() async throws {
        for name in ["", "a:b", "a\r\nX: y"] {
            let (result, requests) = try await end(.digest(username: name, password: "x"), steps: [.echo])
            guard case .failure(let error) = result else { return #expect(Bool(false)) }
            #expect(error == .invalidOption)
            #expect(requests.isEmpty)
        }
        let (result, _) = try await end(
            .digest(username: "ada", password: "x"),
            { $0.headers = HeaderBlock(HTTPFields([HTTPField(name: .authorization, value: "Basic x")])) },
            steps: [.echo])
        guard case .failure(let error) = result else { return #expect(Bool(false)) }
        #expect(error == .invalidHeader)
    }
}
