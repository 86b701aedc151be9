public import Dispatch
import Synchronization

/// Where a client's callbacks run: one at a time, in order.
///
/// Many completions are handed over at once and run in one drain: the queue behind is woken when the list turns from
/// empty to non-empty, not per callback.
public final class CallbackQueue: Sendable {
    /// What is waiting to run.
    enum Job: Sendable {
        case event(TransferEvent)
        case block(@Sendable () -> Void)
        case task(UnownedJob, UnownedTaskExecutor)
        /// Has run.
        case done

        /// Runs it, and lets go of it: what a request leaves is used again by the next one while it is still in the
        /// processor's caches, and not put aside until all others of the drain have run.
        mutating func run() {
            var job = Job.done
            swap(&job, &self)
            switch job {
            case .event(let event): event.receiver.receive(event.kind)
            case .block(let block): block()
            case .task(let job, let executor): job.runSynchronously(on: executor)
            case .done: break
            }
        }
    }

    private struct Pending: ~Copyable {
        var machine = CallbackQueueStateMachine()
        var jobs: [Job] = []
    }

    /// A drain gives the queue behind back after so many jobs, so that others of that queue's users get their turn.
    private static let jobsPerDrain = 1024

    private let target: DispatchQueue?
    /// Where tasks run that prefer an inline queue; `nil`: here.
    package let fallbackSerialQueue: CallbackQueue?
    private let pending = Mutex(Pending())

    package var isInline: Bool { target == nil }

    private init(target: DispatchQueue?) {
        self.target = target
        fallbackSerialQueue = target == nil ? .serial(label: "errand.tasks") : nil
    }

    /// A serial queue of its own.
    public static func serial(label: String = "errand.callbacks") -> CallbackQueue {
        CallbackQueue(target: DispatchQueue(label: label))
    }

    /// Callbacks run on `queue`. They stay one at a time and in order even where `queue` is concurrent.
    public static func dispatchQueue(_ queue: DispatchQueue) -> CallbackQueue {
        CallbackQueue(target: queue)
    }

    /// Callbacks run on whichever thread has news, as a rule a loop thread of the engine: the shortest way, and every
    /// moment spent there stands between all other requests of that loop and the network. They stay one at a time and
    /// in order. For callbacks that only store a value or start the next request.
    public static func inline() -> CallbackQueue {
        CallbackQueue(target: nil)
    }

    /// Runs `block` after everything enqueued before. Any thread.
    public func async(_ block: @escaping @Sendable () -> Void) {
        enqueue(.block(block))
    }

    func enqueue(_ job: Job) {
        let action = pending.withLock { pending in
            pending.jobs.append(job)
            return pending.machine.jobsAdded()
        }
        guard action == .scheduleDrain else { return }
        scheduleDrain()
    }

    /// Takes all of them, and leaves an empty list with room for as many.
    func enqueue(_ jobs: inout [Job]) {
        guard !jobs.isEmpty else { return }
        let action = pending.withLock { pending in
            if pending.jobs.isEmpty {
                // As a rule: nothing is copied then.
                swap(&pending.jobs, &jobs)
            } else {
                pending.jobs.append(contentsOf: jobs)
            }
            return pending.machine.jobsAdded()
        }
        jobs.removeAll(keepingCapacity: true)
        guard action == .scheduleDrain else { return }
        scheduleDrain()
    }

    private func scheduleDrain() {
        guard let target else { return drain() }
        target.async { self.drain() }
    }

    private func drain() {
        var jobs: [Job] = []
        var done = 0
        while true {
            jobs.removeAll(keepingCapacity: true)
            let action = pending.withLock { pending in
                swap(&jobs, &pending.jobs)
                let mayGoOn = target == nil || done < Self.jobsPerDrain
                return pending.machine.drainLooked(foundJobs: !jobs.isEmpty, mayGoOn: mayGoOn)
            }
            switch action {
            case .run:
                for index in jobs.indices { jobs[index].run() }
                done += jobs.count
            case .runThenReschedule:
                for index in jobs.indices { jobs[index].run() }
                return scheduleDrain()
            case .finish:
                return
            }
        }
    }
}
