import Dispatch
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
@Suite(.timeLimit(.minutes(20))) struct SQLiteCachingTests {
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

    /// Three processes have three hash seeds; what one stored the next must find.
    @Test func aBodysKeyIsTheSameInEveryProcess() async throws {
        let folder = try CacheFolder()
        let runs = try (0..<3).map { _ in try folder.probe(["keys", folder.path]) }
        for run in runs { #expect(run.status == 0) }
        let lines = runs.map { $0.text.split(separator: "\n") }
        #expect(lines[0].count == 9)
        for others in lines.dropFirst() {
            for (line, other) in zip(lines[0], others) { #expect(line == other) }
        }
        #expect(Set(lines[0].map { $0.split(separator: " ").last }).count == 9)
    }

    /// Sends requests twice, one after the other, and returns what the second ones were told of the cache where they did
    /// not find what the first ones had stored.
    private static func missed(by client: Client) -> [String] {
        var missed: [String] = []
        for number in 0..<40 {
            let command = GetKept(path: "\(number)", cache: .http, headers: [.acceptLanguage: "de"])
            for turn in 0..<2 {
                let request = client.request(command)
                let ended = DispatchSemaphore(value: 0)
                request.start { _ in ended.signal() }
                guard ended.wait(timeout: .now() + 300) == .success else { return missed + ["no end"] }
                if turn == 1, let status = request.response?.cacheStatus, status.contains("miss") {
                    missed.append(status)
                }
            }
        }
        return missed
    }

    /// What was told as stored is found by the same request at once, in the file alone and in layers.
    @Test(arguments: [false, true]) func whatVariesIsFoundAtOnce(_ isLayered: Bool) async throws {
        let folder = try CacheFolder()
        let stub = StubTransport { _ in
            .response(status: 200, headers: [.cacheControl: "max-age=60", .vary: "Accept-Language"], body: "x")
        }
        var configuration = Client.Configuration(baseURL: "http://test/")
        let file = folder.store()
        configuration.cache = ResponseCache(
            isLayered ? LayeredCacheStore(over: file) : file, now: { folder.time.withLock { $0 } })
        let client = Client(configuration: configuration, transport: stub)
        let missed: [String] = await withCheckedContinuation { done in
            // The task would wait for a thread of its pool after each request, which may be long on a busy machine.
            Thread.detachNewThread { done.resume(returning: Self.missed(by: client)) }
        }
        #expect(missed.isEmpty)
        await client.shutdown(.cancel)
        await client.cache.flush()
    }
}
