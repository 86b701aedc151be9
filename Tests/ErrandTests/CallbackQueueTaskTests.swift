import Dispatch
import ErrandTesting
import Testing

@testable import Errand

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

    @Test func theLoopThreadItselfMayBeTheExecutor() async throws {
        let queue = CallbackQueue.inline()
        let client = Client.stubbed(StubTransport { _ in .response(status: 200, body: "v") }) {
            $0.callbackQueue = queue
        }
        let count = try await Task(executorPreference: queue) {
            var count = 0
            for _ in 0..<500 { count += try await client.run(GetText()).count }
            return count
        }.value
        #expect(count == 500)
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
