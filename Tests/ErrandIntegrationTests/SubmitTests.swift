import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandEngine
@testable import ErrandModel

/// Notes the one end that a transfer has.
private final class Receiver: TransferReceiver, @unchecked Sendable {
    let ended = AsyncStream.makeStream(of: TransferResult.self)

    init() { super.init(callbacks: .inline()) }

    override func receive(_ event: TransferEvent.Kind) {
        if case .ended(let result) = event { ended.continuation.yield(result) }
    }

    func result() async -> TransferResult? {
        for await result in ended.stream { return result }
        return nil
    }
}

@Suite struct SubmitTests {
    /// Each submission stands alone: its own body, its own refusal, its own connection options.
    @Test func eachKindOfRequestIsSubmittedOrRefused() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.readBody, .echo])
        var configuration = Client.Configuration.patient(baseURL: server.url("/"))
        configuration.loops = 1
        let transport = ReactorTransport(configuration)
        let client = Client(configuration, own: transport)
        let commands = [
            Get(path: "get"), Get(path: "text", method: .post, body: .string("text")),
            Get(path: "connect", method: .connect),
            Get(path: "file", method: .put, body: .file(#filePath)),
            Get(path: "data", method: .put, body: .data(Data("data".utf8)), connection: .init(httpVersion: .http1)),
            Get(path: "missing", connection: .init(tls: .init(caFile: "/nonexistent"))),
            Get(path: "empty", method: .put, body: .bytes([])),
        ]
        let receivers = commands.map { _ in Receiver() }
        let descriptions = try commands.map { try client.describe($0) }
        let submit = { (index: Int) in
            Result { () throws(ErrandError) in
                try transport.submit(descriptions[index], for: receivers[index])
            }
        }
        let results = commands.indices.map(submit)
        let refused: [Int: ErrandError] = [2: .invalidMethod, 5: .fileUnreadable]
        for (index, result) in results.enumerated() {
            switch result {
            case .failure(let error):
                #expect(error == refused[index], "\(commands[index].path)")
            case .success(let id):
                #expect(refused[index] == nil)
                #expect(id.rawValue != 0)
                guard case .response(let response) = await receivers[index].result() else {
                    Issue.record("\(commands[index].path) failed")
                    continue
                }
                #expect(response.statusCode == 200)
            }
        }
        let seen = server.requests.sorted { $0.target < $1.target }
        #expect(seen.map(\.target) == ["/data", "/empty", "/file", "/get", "/text"])
        #expect(seen.map(\.method) == ["PUT", "PUT", "PUT", "GET", "POST"])
        #expect(String(decoding: seen[0].body, as: UTF8.self) == "data")
        #expect(seen[2].bodyLength == (try Data(contentsOf: URL(filePath: #filePath))).count)
        #expect(String(decoding: seen[4].body, as: UTF8.self) == "text")
        await client.shutdown()
        let late = commands.indices.map(submit)
        #expect(late.allSatisfy { if case .failure = $0 { true } else { false } })
    }
}
