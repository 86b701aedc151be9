import Dispatch
import Errand
import ErrandTesting
import Synchronization
import Testing

@testable import ErrandClient

@Suite struct CallbackQueueTaskTests {
    private static let key = DispatchSpecificKey<Int>()

    /// Whether the present thread runs a block of `queue` below.
    private static var isOnQueue: Bool { DispatchQueue.getSpecific(key: key) == 1 }

    private static func queue() -> CallbackQueue {
        let target = DispatchQueue(label: "tasks")
        target.setSpecific(key: key, value: 1)
        return .dispatchQueue(target)
    }

    @Test func tasksThatPreferItStayOnIt() async throws {
        let queue = Self.queue()
        let client = Client.stubbed(StubTransport { _ in .response(status: 200, body: "v") }) {
            $0.callbackQueue = queue
        }
        let places = try await Task(executorPreference: queue) {
            var places = [Self.isOnQueue]
            for _ in 0..<50 {
                let text = try await client.run(GetText())
                #expect(text == "v")
                places.append(Self.isOnQueue)
                await Task.yield()
                places.append(Self.isOnQueue)
            }
            return places
        }.value
        #expect(places == Array(repeating: true, count: 101))
    }

    @Test func tasksAndCallbacksTakeTurnsOneAtATime() async throws {
        let queue = Self.queue()
        let client = Client.stubbed(StubTransport { _ in .response(status: 200, body: "v") }) {
            $0.callbackQueue = queue
        }
        // Not guarded: the thread sanitizer sees what is not one at a time.
        nonisolated(unsafe) var steps = 0
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask(executorPreference: queue) {
                    for _ in 0..<20 {
                        steps += 1
                        _ = try? await client.run(GetText())
                        steps += 1
                        queue.async { steps += 1 }
                    }
                }
            }
        }
        await client.callbacksDrained()
        #expect(steps == 20 * 20 * 3)
    }

    @Test func responsesGoToTheQueueOfTasksThatPreferItAlone() async {
        let queue = Self.queue()
        let client = Client.stubbed(StubTransport()) { $0.callbackQueue = queue }
        #expect(client.queueOfCaller === client.resumptions)
        let inside = await Task(executorPreference: queue) { client.queueOfCaller }.value
        #expect(inside === queue)
        let elsewhere = await Task(executorPreference: Self.queue()) { client.queueOfCaller }.value
        #expect(elsewhere === client.resumptions)
    }

    @Test func aRequestOfSuchATaskCannotBeStartedAgain() async throws {
        let queue = Self.queue()
        let stub = StubTransport()
        let client = Client.stubbed(stub) { $0.callbackQueue = queue }
        let task = Task(executorPreference: queue) { try await client.run(GetText()) }
        try await waitUntil("a transfer is open") { !stub.open.isEmpty }
        let request = try #require(client.requests.first)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!request.start())
    }

    @Test func tasksElsewhereAreResumedElsewhere() async throws {
        let client = Client.stubbed(StubTransport { _ in .response(status: 200, body: "v") }) {
            $0.callbackQueue = Self.queue()
        }
        #expect(try await client.run(GetText()) == "v")
        #expect(!Self.isOnQueue)
        // Another client's queue is a place like any other.
        let other = Self.queue()
        let isThere = try await Task(executorPreference: other) {
            let text = try await client.run(GetText())
            #expect(text == "v")
            return Self.isOnQueue
        }.value
        #expect(isThere)
    }

    @Test func cancellationEndsTheRequestOfSuchATask() async {
        let queue = Self.queue()
        let client = Client.stubbed(StubTransport()) { $0.callbackQueue = queue }
        let task = Task(executorPreference: queue) { try await client.run(GetText()) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    /// Resumed at once, the task would run inside the lock of who resumes it: the runtime's, while it is cancelled.
    @Test func tasksOfAnInlineQueueNeverRunWhereTheyAreResumed() async throws {
        let queue = CallbackQueue.inline()
        let client = Client.stubbed(StubTransport { _ in .response(status: 200, body: "v") }) {
            $0.callbackQueue = queue
        }
        let waiting = Mutex<CheckedContinuation<Void, Never>?>(nil)
        let task = Task(executorPreference: queue) {
            await withCheckedContinuation { continuation in waiting.withLock { $0 = continuation } }
            // Not to be had before the one who resumes has let go of it.
            waiting.withLock { $0 = nil }
            return try await client.run(GetText())
        }
        try await waitUntil("the hook waits") { !waiting.withLock({ $0 == nil }) }
        waiting.withLock { $0?.resume() }
        let text = try await task.value
        #expect(text == "v")
    }

    @Test func aTaskThatYieldsForEverLeavesAnInlineQueueToItsCallbacks() async {
        let queue = CallbackQueue.inline()
        let isOver = Atomic(false)
        let task = Task(executorPreference: queue) {
            while !isOver.load(ordering: .relaxed) { await Task.yield() }
        }
        let hasRun = Atomic(false)
        queue.async { hasRun.store(true, ordering: .relaxed) }
        let hasRunBeside = hasRun.load(ordering: .relaxed)
        #expect(hasRunBeside)
        isOver.store(true, ordering: .relaxed)
        await task.value
    }

    @Test func aQueueWithManyTasksGivesTheQueueBehindBack() async {
        let target = DispatchQueue(label: "shared")
        let queue = CallbackQueue.dispatchQueue(target)
        let seen = Notes<String>()
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            Task(executorPreference: queue) {
                target.async { seen.add("other") }
                for _ in 0..<3000 { await Task.yield() }
                seen.add("last")
                continuation.resume()
            }
        }
        #expect(seen.all == ["other", "last"])
    }
}
