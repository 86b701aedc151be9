import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandSQLite

private struct GetKept: Command {
    var path = "x"
    var cache: CachePolicy? = .timed(.seconds(60))
    var headers = HTTPFields()
    typealias Response = String
}

/// Requests over the cache file.
@Suite(.timeLimit(.minutes(5))) struct SQLiteCachingTests {
    private func client(_ folder: CacheFolder, _ sent: Mutex64) -> Client {
        let stub = StubTransport { _ in
            let number = sent.value.withLock { value in
                value += 1
                return value
            }
            return .response(
                status: 200, headers: [.cacheControl: "max-age=60", .vary: "Accept-Language"], body: "\(number)")
        }
        var configuration = Client.Configuration(baseURL: "http://test/")
        let store = LayeredCacheStore(over: folder.store())
        configuration.cache = ResponseCache(store, now: { folder.time.withLock { $0 } })
        return Client(configuration: configuration, transport: stub)
    }

    private final class Mutex64: Sendable {
        let value = Mutex(0)
    }

    @Test func whatOneProgramStoredTheNextFinds() async throws {
        let folder = try CacheFolder()
        let sent = Mutex64()
        let commands = [
            GetKept(), GetKept(path: "y"), GetKept(cache: .http),
            GetKept(cache: .http, headers: [.acceptLanguage: "de"]),
        ]
        for round in 1...3 {
            let client = client(folder, sent)
            for (index, command) in commands.enumerated() {
                #expect(try await client.run(command) == "\(index + 1)", "round \(round)")
            }
            await client.cache.flush()
            await client.shutdown(.cancel)
        }
        #expect(sent.value.withLock { $0 } == 4)
        folder.pass(60_000)
        let client = client(folder, sent)
        #expect(try await client.run(GetKept()) == "5")
        await client.cache.flush()
        await client.shutdown(.cancel)
    }

    @Test func aFileThatIsDamagedCostsARequestNothing() async throws {
        let folder = try CacheFolder()
        try folder.put(Array("no database at all, but long enough to be taken for one".utf8))
        let sent = Mutex64()
        let client = client(folder, sent)
        for _ in 1...3 { #expect(try await client.run(GetKept()) == "1") }
        await client.cache.flush()
        #expect(client.cache.health.condition == .working)
        #expect(client.cache.health.repairs == 1)
        await client.shutdown(.cancel)
    }
}
