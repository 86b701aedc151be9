import Errand
import ErrandTesting
import HTTPTypes
import Logging
import Synchronization
import Testing

@testable import ErrandCaching
@testable import ErrandModel

/// A store in memory that fails, loses and lingers at random.
private final class MoodyStore: CacheStore {
    private let records = MemoryCacheStore(limits: .init(bytes: 1 << 16, entries: 40))
    private let random: Mutex<SeededGenerator>

    init(seed: UInt64) {
        random = Mutex(SeededGenerator(seed: seed))
    }

    private func mood() throws(CacheStoreError) {
        let errors: [CacheStoreError] = [.locked, .ioFailed, .corrupt, .storageFull]
        let error = random.withLock { random in
            Int.random(in: 0..<5, using: &random) == 0 ? errors.randomElement(using: &random) : nil
        }
        if let error { throw error }
    }

    func read(_ key: CacheKey) throws(CacheStoreError) -> CacheRecord? {
        try mood()
        return records.read(key)
    }
    func write(_ record: CacheRecord, for key: CacheKey) throws(CacheStoreError) {
        try mood()
        try records.write(record, for: key)
    }
    func remove(_ key: CacheKey) throws(CacheStoreError) -> Bool {
        try mood()
        return records.remove(key)
    }
    func remove(tag: String) throws(CacheStoreError) -> Int {
        try mood()
        return records.remove(tag: tag)
    }
    func remove(olderThan instant: Int64) throws(CacheStoreError) -> Int { records.remove(olderThan: instant) }
    func removeAll() throws(CacheStoreError) -> Int { records.removeAll() }
    func removeAll(namespace: String) throws(CacheStoreError) -> Int { records.removeAll(namespace: namespace) }
    func statistics() -> CacheStatistics { records.statistics() }

    var health: CacheHealth { .working }
    var answersAtOnce: Bool { false }
    func accepts(byteCount: Int) -> Bool { true }
    func readAtOnce(_ key: CacheKey) -> CacheRecord? { nil }
}

/// Many threads, a server that fails and a store that does: each request ends once, with a body that is its own.
@Suite(.timeLimit(.minutes(20))) struct CachingStormTests {
    private final class Ledger: Sendable {
        private struct State {
            var ends: [UInt64: Int] = [:]
            var wrong: [String] = []
        }

        private let state = Mutex(State())

        var ends: [UInt64: Int] { state.withLock { $0.ends } }
        var wrong: [String] { state.withLock { $0.wrong } }

        func ended(_ request: Request<GetCached>) {
            let user = request.command.headers[.authorization] ?? ""
            let right = ["http://test/\(request.command.path) \(user)", "http://test/hop \(user)"]
            state.withLock { state in
                state.ends[request.id, default: 0] += 1
                if let value = request.value, !right.contains(value) { state.wrong.append("\(right[0]): \(value)") }
            }
        }

        func cached(_ value: String, for command: GetCached) {
            let user = command.headers[.authorization] ?? ""
            guard value.hasSuffix(" " + user) else { return state.withLock { $0.wrong.append("told \(value)") } }
        }
    }

    /// `path user` is what everybody gets who may.
    private static func answer(_ description: RequestDescription, _ number: Int) -> StubTransport.Answer {
        let body = description.url + " " + (description.headers[.authorization] ?? "")
        switch number % 11 {
        case 0: return .failure(.connectionLost)
        case 1: return .response(status: 503)
        case 2 where description.headers[.ifNoneMatch] != nil:
            return .response(status: 304, headers: ["ETag": "\"\(body.utf8.count)\""])
        case 3: return .response(status: 302, headers: ["Location": "/hop"])
        default:
            let controls = [
                "max-age=1, stale-while-revalidate=2", "no-cache", "max-age=5, stale-if-error=9", "no-store",
            ]
            return .response(
                status: 200,
                headers: [
                    "Cache-Control": controls[number % controls.count], "ETag": "\"\(body.utf8.count)\"",
                    "Vary": number % 3 == 0 ? "Accept-Language" : "Accept",
                ], body: body)
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64]) func everyRequestEndsOnceWithItsOwnBody(_ seed: UInt64) async throws {
        let store: any CacheStore = seed == 3 ? MemoryCacheStore() : MoodyStore(seed: seed)
        let ledger = Ledger()
        let quiet = Logger(label: "storm") { _ in SwiftLogNoOpLogHandler() }
        try await CachingBench(store: store, logger: quiet, answer: Self.answer).run { bench async throws in
            await withTaskGroup(of: Void.self) { group in
                for thread in 0..<4 {
                    group.addTask {
                        var random = SeededGenerator(seed: seed * 100 + UInt64(thread))
                        for _ in 0..<500 { Self.step(bench, &random, ledger) }
                    }
                }
            }
            try await waitUntil("no request of the client runs") { bench.client.requests.isEmpty }
        }
        #expect(ledger.ends.count == 2000)
        #expect(ledger.ends.values.allSatisfy { $0 == 1 })
        #expect(ledger.wrong == [])
    }

    private static func step(_ bench: CachingBench, _ random: inout SeededGenerator, _ ledger: Ledger) {
        let readings: [CacheReading] = [
            .cacheElseNetwork, .cacheElseNetwork, .networkOnly, .cacheOnly, .cacheThenNetwork, .networkElseCache,
        ]
        var policy = Bool.random(using: &random) ? CachePolicy.http : .timed(.seconds(2))
        policy.reading = readings.randomElement(using: &random) ?? .cacheOnly
        policy.collapsesMisses = Int.random(in: 0..<4, using: &random) == 0
        var command = GetCached(path: "\(Int.random(in: 0..<6, using: &random))", cache: policy)
        if let user = ["", "ada", "bob"].randomElement(using: &random), !user.isEmpty {
            command.headers[.authorization] = user
        }
        command.headers[.acceptLanguage] = ["de", "fr"].randomElement(using: &random)
        if Int.random(in: 0..<20, using: &random) == 0 { command.method = .post }
        let told = command
        let request = bench.client.request(command)
        request.onCached { value, _ in ledger.cached(value, for: told) }
        request.start(notifiesOnStop: true) { ledger.ended($0) }
        switch Int.random(in: 0..<10, using: &random) {
        case 0: request.stop()
        case 1:
            request.pause()
            request.resume()
        case 2: bench.clock.advance(Double.random(in: 0..<1, using: &random))
        case 3: bench.client.cache.invalidate(["http://test/1"])
        default: break
        }
    }
}
