import Dispatch
import Errand
import Synchronization
import Testing

@testable import ErrandEngine

@Suite struct CallbackQueueTests {
    @Test func machineSchedulesOnceUntilEmpty() {
        var machine = CallbackQueueStateMachine()
        #expect(machine.jobsAdded() == .scheduleDrain)
        #expect(machine.jobsAdded() == .wait)
        #expect(machine.drainLooked(foundJobs: true, mayGoOn: true) == .run)
        #expect(machine.jobsAdded() == .wait)
        #expect(machine.drainLooked(foundJobs: true, mayGoOn: false) == .runThenReschedule)
        #expect(machine.drainLooked(foundJobs: false, mayGoOn: true) == .finish)
        #expect(machine.jobsAdded() == .scheduleDrain)
    }

    @Test func drainThatNobodyScheduledTraps() async {
        await #expect(processExitsWith: .failure) {
            var machine = CallbackQueueStateMachine()
            _ = machine.drainLooked(foundJobs: true, mayGoOn: true)
        }
    }

    @Test func keepsOrderAndRunsOneAtATimeOnAConcurrentQueue() async {
        let queue = CallbackQueue.dispatchQueue(DispatchQueue(label: "test", attributes: .concurrent))
        let running = Atomic<Int>(0)
        let overlaps = Atomic<Int>(0)
        let seen = Notes<Int>()
        await withCheckedContinuation { continuation in
            for number in 0..<5000 {
                queue.async {
                    if running.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue != 1 {
                        overlaps.wrappingAdd(1, ordering: .relaxed)
                    }
                    seen.add(number)
                    running.wrappingSubtract(1, ordering: .sequentiallyConsistent)
                }
            }
            queue.async { continuation.resume() }
        }
        #expect(overlaps.load(ordering: .relaxed) == 0)
        #expect(seen.all == Array(0..<5000))
    }

    @Test func manyProducersLoseNothing() async {
        let queue = CallbackQueue.serial()
        let seen = Notes<Int>()
        await withTaskGroup(of: Void.self) { group in
            for producer in 0..<8 {
                group.addTask {
                    for number in 0..<500 { queue.async { seen.add(producer * 1000 + number) } }
                }
            }
        }
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        #expect(seen.all.count == 4000)
        for producer in 0..<8 {
            let own = seen.all.filter { $0 / 1000 == producer }
            #expect(own == own.sorted())
        }
    }

    @Test func inlineRunsAtOnceAndDoesNotNest() {
        let queue = CallbackQueue.inline()
        let seen = Notes<String>()
        queue.async {
            seen.add("outer begins")
            queue.async { seen.add("inner") }
            seen.add("outer ends")
        }
        #expect(seen.all == ["outer begins", "outer ends", "inner"])
    }

    @Test func givesTheQueueBehindBackInBetween() async {
        let target = DispatchQueue(label: "test")
        let queue = CallbackQueue.dispatchQueue(target)
        let seen = Notes<String>()
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            // Each job adds the next, so that one drain would never end if it went on as long as there is work.
            @Sendable func job(_ left: Int) {
                if left == 1500 { target.async { seen.add("other") } }
                if left == 0 {
                    seen.add("last")
                    return continuation.resume()
                }
                queue.async { job(left - 1) }
            }
            queue.async { job(3000) }
        }
        #expect(seen.all == ["other", "last"])
    }
}
