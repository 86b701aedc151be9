import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandCaching
@testable import ErrandClient
@_spi(ErrandEngine) @testable import ErrandModel

/// A hit is told as anything else is, and what may happen to a request may happen while its cache is asked.
@Suite(.timeLimit(.minutes(20))) struct CachingFlowTests {
    private let minute = CachePolicy.timed(.seconds(60))

    /// Everything that can be told, in order.
    private struct Told: Command {
        let notes: Notes<String>
        var cache: CachePolicy?
        var path: String { "told" }
        var interceptors: [any Interceptor] { [Noting(notes: notes)] }
        var validator: (@Sendable (String, Errand.Response) async throws -> Void)? {
            { [notes] _, _ in notes.add("validator") }
        }
        var successPreprocessor: (@Sendable (String, Errand.Response) async -> Void)? {
            { [notes] _, _ in notes.add("preprocessor") }
        }
        var successFilter: (@Sendable (Request<Self>) -> Void)? { { [notes] _ in notes.add("filter") } }
        func decode(_ response: Errand.Response) throws -> String {
            notes.add("decode")
            return try response.text()
        }

        struct Noting: StepwiseInterceptor {
            let notes: Notes<String>
            func prepare(
                _ description: RequestDescription, in context: InterceptionContext
            ) async throws -> RequestDescription {
                notes.add("prepare")
                return description
            }
            func transform(_ response: Response, in context: InterceptionContext) async throws -> Response {
                notes.add("transform")
                return response.replacing(body: response.body.bytes + Array("!".utf8))
            }

            func replays(after result: TransferResult, in context: InterceptionContext) -> Bool { false }
        }
    }

    private final class Watcher: Accessory, RequestDelegate {
        let notes: Notes<String>
        init(_ notes: Notes<String>) { self.notes = notes }
        func requestWillStart(_ request: AnyRequest) { notes.add("willStart") }
        func requestWillStop(_ request: AnyRequest) { notes.add("willStop") }
        func requestDidStop(_ request: AnyRequest) { notes.add("didStop") }
        func requestFinished(_ request: AnyRequest) { notes.add("delegate") }

        func requestFailed(_ request: AnyRequest) {}
    }

    private func told(_ bench: CachingBench, _ policy: CachePolicy) async throws -> (told: [String], isFromCache: Bool)
    {
        let notes = Notes<String>()
        let watcher = Watcher(notes)
        let request = bench.client.request(Told(notes: notes, cache: policy))
        request.addAccessory(watcher)
        request.delegate = watcher
        await withCheckedContinuation { continuation in
            request.start(success: { request in
                notes.add("success \(request.value ?? "")")
                continuation.resume()
            })
        }
        try await bench.client.ended(request)
        return (notes.all, request.isFromCache)
    }

    @Test(arguments: [CachePolicy.timed(.seconds(60)), .http])
    func aHitIsToldToEverybodyInTheOrderOfTheNetwork(_ policy: CachePolicy) async throws {
        try await CachingBench(answer: { _, _ in
            .response(status: 200, headers: ["Cache-Control": "max-age=60"], body: "a")
        }).run { bench async throws in
            let network = try await told(bench, policy)
            let hit = try await told(bench, policy)
            #expect(!network.isFromCache)
            #expect(hit.isFromCache)
            #expect(hit.told == network.told)
            #expect(
                hit.told == [
                    "willStart", "prepare", "transform", "decode", "validator", "preprocessor", "willStop", "filter",
                    "delegate", "success a!", "didStop",
                ])
            #expect(bench.sent == 1)
        }
    }

    @Test func observersHearOfAHitBeforeItsEnd() async throws {
        try await CachingBench().run { bench async throws in
            for names in [
                ["willStart", "queued", "willStop", "didStop"],
                ["willStart", "queued", "cacheHit", "willStop", "didStop"],
            ] {
                let recorder = EventRecorder()
                let request = bench.client.request(GetCached(cache: minute))
                request.addAccessory(recorder)
                _ = await bench.finished(request)
                try await bench.client.ended(request)
                #expect(recorder.names == names)
            }
            let recorder = EventRecorder()
            let request = bench.client.request(GetCached(cache: minute.with(reading: .cacheThenNetwork)))
            request.addAccessory(recorder)
            _ = await bench.finished(request)
            try await bench.client.ended(request)
            #expect(
                recorder.names == [
                    "willStart", "queued", "cacheHit", "cached 200", "queued", "willStop", "didStop",
                ])
        }
    }

    @Test func aHitIsNeverToldWithinStart() async throws {
        try await CachingBench(change: { $0.callbackQueue = .serial() }).run { bench async throws in
            _ = await bench.finished(GetCached(cache: minute))
            let gate = Mutex<Bool>(false)
            let early = Mutex<Bool>(false)
            await withCheckedContinuation { continuation in
                bench.client.callbacks.async {
                    bench.client.start(
                        GetCached(cache: minute),
                        completion: { _ in
                            early.withLock { $0 = !gate.withLock { $0 } }
                            continuation.resume()
                        })
                    gate.withLock { $0 = true }
                }
            }
            #expect(!early.withLock { $0 })
        }
    }

    @Test func aGroupIsFromTheCacheWhenAllOfItIs() async throws {
        try await CachingBench().run { bench async throws in
            _ = try await bench.client.run(GetCached(path: "a", cache: minute))
            let mixed = await bench.finished(
                Batch([GetCached(path: "a", cache: minute), GetCached(path: "b", cache: minute)]))
            #expect(!mixed.isFromCache)
            let all = await bench.finished(
                Batch([GetCached(path: "a", cache: minute), GetCached(path: "b", cache: minute)]))
            #expect(all.isFromCache)
            #expect(bench.sent == 2)
        }
    }

    /// Reference 30: what a success was told of is found by whoever asks then.
    @Test func aRestartWithinTheSuccessClosureFindsWhatWasStored() async throws {
        let store = HeldStore()
        try await CachingBench(store: store).run { bench async throws in
            let values = Notes<String>()
            let request = bench.client.request(GetCached(cache: minute))
            // From before the write, which could else be done before the store is held, and the lookup wait for the store.
            store.hold()
            await withCheckedContinuation { continuation in
                request.whenDone(success: { request in
                    values.add(request.value ?? "")
                    request.start(success: { request in
                        values.add((request.value ?? "") + (request.isFromCache ? " cached" : ""))
                        continuation.resume()
                    })
                })
                request.startIgnoringCache()
            }
            #expect(values.all == ["1", "1 cached"])
            #expect(bench.sent == 1)
            try await store.entered()
            store.release()
        }
    }

    // MARK: While the store is asked

    private func held(
        _ stored: Bool, change: (inout Client.Configuration) -> Void = { _ in },
        _ body: (CachingBench, HeldStore, Request<GetCached>) async throws -> Void
    ) async throws {
        let store = HeldStore()
        try await CachingBench(store: store, change: change).run { bench async throws in
            if stored {
                _ = try await bench.client.run(GetCached(cache: minute))
                await bench.client.cache.flush()
            }
            store.hold()
            let request = bench.client.request(GetCached(cache: minute))
            try await body(bench, store, request)
        }
    }

    @Test(arguments: [true, false]) func aStopDuringTheLookupEndsAtOnce(_ stored: Bool) async throws {
        try await held(stored) { bench, store, request async throws in
            async let end = bench.finished(request)
            try await store.entered()
            let sent = bench.sent
            request.stop()
            #expect(await end.error == .cancelled)
            store.release()
            await bench.client.cache.flush()
            #expect(bench.sent == sent)
            #expect(bench.client.carrier.count == 0)
        }
    }

    @Test func aPauseDuringTheLookupHoldsTheHitBack() async throws {
        try await held(true) { bench, store, request async throws in
            async let end = bench.finished(request)
            try await store.entered()
            try await Self.isInFlight(request)
            request.pause()
            store.release()
            await bench.client.cache.flush()
            await bench.client.callbacksDrained()
            #expect(request.state == .paused)
            request.resume()
            #expect(await end.value == "1")
            #expect(request.isFromCache)
        }
    }

    @Test func aPausedHitCanBeStopped() async throws {
        try await held(true) { bench, store, request async throws in
            async let end = bench.finished(request)
            try await store.entered()
            try await Self.isInFlight(request)
            request.pause()
            store.release()
            await bench.client.cache.flush()
            request.stop()
            #expect(await end.error == .cancelled)
        }
    }

    /// A pause that comes while the request is still being handed over is passed on after the hit may have ended it.
    private static func isInFlight(_ request: AnyRequest) async throws {
        try await waitUntil("the request has a transfer") { request.core.withLock({ $0.machine.transferID }) != nil }
    }

    @Test func aPauseDuringTheLookupIsPassedOnToTheTransfer() async throws {
        let store = HeldStore()
        try await CachingBench(store: store, answer: { _, _ in .hold }).run { bench async throws in
            store.hold()
            let request = bench.client.request(GetCached(cache: minute))
            async let end = bench.finished(request)
            try await store.entered()
            try await Self.isInFlight(request)
            request.pause()
            store.release()
            await bench.client.cache.flush()
            let id = try #require(bench.stub.open.first)
            #expect(bench.stub.isPaused(id))
            request.resume()
            #expect(!bench.stub.isPaused(id))
            bench.stub.complete(id, with: .response(Response(statusCode: 200, body: [0x61])))
            #expect(await end.value == "a")
        }
    }

    @Test(arguments: [true, false]) func aShutdownDuringTheLookupWaitsForNoStore(_ stored: Bool) async throws {
        try await held(stored) { bench, store, request async throws in
            async let end = bench.finished(request)
            try await store.entered()
            await bench.client.shutdown(.cancel)
            #expect(await end.error == .shutDown)
            // One that comes later does not wait either.
            let late = await bench.finished(GetCached(cache: minute))
            #expect(late.error == .shutDown)
            store.release()
        }
    }

    /// What was to be stored is, when the shutdown has returned: the program may end then.
    @Test func aShutdownWaitsForWhatIsToBeStored() async throws {
        let store = HeldStore()
        let time = ManualClock()
        try await CachingBench(store: store, change: { $0.clock = time }).run { bench async throws in
            // Where the lookup's read is not what is held.
            _ = try await bench.client.run(GetCached(path: "other", cache: minute.with(reading: .networkOnly)))
            await bench.client.cache.flush()
            store.hold()
            _ = try await bench.client.run(GetCached(cache: minute.with(reading: .networkOnly)))
            try await store.entered()
            async let end: Void = bench.client.shutdown(.cancel)
            await time.sleepers(1)
            store.release()
            await end
            #expect(store.records.statistics().entries == 2)
        }
    }

    @Test func aShutdownWaitsTwoSecondsAtMostForAStoreThatIsStuck() async throws {
        let store = HeldStore()
        let time = ManualClock()
        try await CachingBench(store: store, change: { $0.clock = time }).run { bench async throws in
            _ = try await bench.client.run(GetCached(path: "other", cache: minute.with(reading: .networkOnly)))
            await bench.client.cache.flush()
            store.hold()
            _ = try await bench.client.run(GetCached(cache: minute.with(reading: .networkOnly)))
            try await store.entered()
            async let end: Void = bench.client.shutdown(.cancel)
            await time.sleepers(1)
            time.advance(by: .seconds(2))
            await end
            #expect(store.records.statistics().entries == 1)
            store.release()
        }
    }

    @Test func theTotalTimeCountsTheLookup() async throws {
        let time = ManualClock()
        try await held(true, change: { $0.clock = time }) { bench, store, _ async throws in
            let short = Timeouts(total: .milliseconds(20))
            async let request = bench.finished(GetCached(cache: minute, timeouts: short))
            await time.sleepers(1)
            try await store.entered()
            time.advance(by: .milliseconds(20))
            #expect(await request.error == .timeoutTotal)
            store.release()
            await bench.client.cache.flush()
            #expect(bench.sent == 1)
        }
    }

    @Test func aRequestMayBeStartedAgainWhileTheStoreStillLooksForTheOldRun() async throws {
        try await held(true) { bench, store, request async throws in
            async let first = bench.finished(request)
            try await store.entered()
            request.stop()
            #expect(await first.error == .cancelled)
            async let second = bench.finished(request)
            store.release()
            #expect(await second.value == "1")
            #expect(request.isFromCache)
        }
    }

    // MARK: What is left

    @Test(arguments: [CachePolicy.timed(.seconds(60)), .http], [CacheReading.cacheElseNetwork, .cacheThenNetwork])
    func nothingOfARunOutlivesItsRequest(_ policy: CachePolicy, _ reading: CacheReading) async throws {
        weak var run: CacheRun?
        weak var storage: ResponseStorage?
        try await CachingBench(answer: { _, _ in
            .response(status: 200, headers: ["Cache-Control": "max-age=60"], body: "a")
        }).run { bench async throws in
            for _ in 1...2 {
                let request = await bench.finished(GetCached(cache: policy.with(reading: reading)))
                try await bench.client.ended(request)
                run = request.transferDescription?.responseCachePlan?.run
                storage = request.response?.storage
                #expect(run != nil && storage != nil)
            }
        }
        // A thread that has called a callback may release its job a moment later.
        weak let (lastRun, lastStorage) = (run, storage)
        try await waitUntil("nothing of the run is left") { lastRun == nil && lastStorage == nil }
    }

    /// The body's `Data` shares the memory of a response that the cache has marked.
    @Test func dataOutlivesTheResponseThatItCameIn() async throws {
        let body = String(repeating: "b", count: 4096)
        try await CachingBench(answer: { _, _ in .response(status: 200, body: body) }).run { bench async throws in
            for _ in 1...2 {
                let data = try #require(await bench.finished(GetCached(cache: minute)).response?.body.data)
                await bench.client.callbacksDrained()
                #expect(Array(data) == Array(body.utf8))
            }
        }
    }

    // MARK: Stores that fail

    private static let failures: [CacheStoreError] = [
        .storageFull, .corrupt, .locked, .readOnly, .recordTooLarge, .pathRefused, .unavailable, .ioFailed,
    ]

    @Test(arguments: failures) func aBrokenStoreIsAMissAndTheLogSaysWhy(_ error: CacheStoreError) async throws {
        let store = HeldStore()
        let log = MemoryLog()
        let clock = CacheClock()
        let stub = StubTransport { _ in
            .response(status: 200, headers: ["Cache-Control": "max-age=60", "Vary": "Accept"], body: "a")
        }
        let client = Client.stubbed(stub) { configuration in
            configuration.cache = ResponseCache(store, logger: log.logger, now: { clock.now })
        }
        store.fail(error)
        for policy in [minute, .http, .http(reading: .networkElseCache), minute.with(reading: .cacheThenNetwork)] {
            for _ in 1...3 {
                #expect(try await client.run(GetCached(cache: policy)) == "a")
                // What waits to be written would be found.
                await client.cache.flush()
            }
        }
        _ = try await client.run(GetCached(method: .post))
        await client.cache.flush()
        #expect(stub.submitted.count == 13)
        let lines = log.lines
        #expect(lines.count == (error == .recordTooLarge ? 0 : 1))
        #expect(lines.allSatisfy { $0.contains(error.shortDescription) })
        await client.shutdown(.cancel)
    }
}
