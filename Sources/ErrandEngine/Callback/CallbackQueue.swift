public import Dispatch
import Synchronization

/// The queue of a client's callbacks, which run one at a time and in order.
///
/// Many completions are enqueued at once and run in one drain: the underlying queue is woken when the list changes from
/// empty to non-empty, not per callback.
public final class CallbackQueue: Sendable {
    /// A job that waits to run.
    enum Job: Sendable {
        case event(TransferEvent)
        case block(@Sendable () -> Void)
        case task(UnownedJob, UnownedTaskExecutor)
        /// The job has run.
        case done

        /// Runs the job and releases it at once, not after all other jobs of the drain: the next request then reuses
        /// the memory while it is still in the processor's caches.
        mutating func run() {
            var job = Job.done
            swap(&job, &self)
            switch job {
            case .event(let event): event.receiver.accept(event.kind)
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

    /// After this many jobs a drain yields the underlying queue to its other users.
    private static let jobsPerDrain = 1024

    private let target: DispatchQueue?
    /// The queue for tasks that prefer an inline queue; `nil`: this queue.
    package let fallbackSerialQueue: CallbackQueue?
    private let pending = Mutex(Pending())

    package var isInline: Bool { target == nil }

    private init(target: DispatchQueue?) {
        self.target = target
        fallbackSerialQueue = target == nil ? .serial(label: "errand.tasks") : nil
    }

    /// A separate serial queue.
    public static func serial(label: String = "errand.callbacks") -> CallbackQueue {
        CallbackQueue(target: DispatchQueue(label: label))
    }

    /// Callbacks run on `queue`, one at a time and in order even if `queue` is concurrent.
    public static func dispatchQueue(_ queue: DispatchQueue) -> CallbackQueue {
        CallbackQueue(target: queue)
    }

    /// Callbacks run on the thread that has an event, usually a loop thread of the engine, one at a time and in order.
    /// This is the shortest way, but while a callback runs, no other request of that loop makes progress. For callbacks
    /// that only store a value or start the next request.
    public static func inline() -> CallbackQueue {
        CallbackQueue(target: nil)
    }

    /// Runs `block` after all jobs enqueued before. Any thread.
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

    /// Takes all jobs, and leaves an empty list with capacity for the next ones.
    func enqueue(_ jobs: inout [Job]) {
        guard !jobs.isEmpty else { return }
        let action = pending.withLock { pending in
            if pending.jobs.isEmpty {
                // The usual case: nothing is copied.
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

/// Tasks that prefer a client's callback queue run where its responses are delivered. No change of threads is needed
/// between the delivery of a response and the task that awaits it.
///
///     let queue = CallbackQueue.serial()
///     let client = Client(configuration: .init(callbackQueue: queue))
///     Task(executorPreference: queue) { ... try await client.run(command) ... }
///
/// The code of such a task between two awaits runs like a callback, one piece at a time: use it for many short steps,
/// not for long computations. Actors with executors of their own, such as the main actor, still use these (SE-0417).
/// Tasks that prefer an ``inline()`` queue run on a separate serial queue, never on a loop thread.
extension CallbackQueue: TaskExecutor {
    /// Called by the concurrency runtime. Any thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // Never runs the job synchronously: the thread that resumes a task may hold a lock, as the runtime does when it
        // cancels one.
        (fallbackSerialQueue ?? self).enqueue(.task(job, asUnownedTaskExecutor()))
    }
}
