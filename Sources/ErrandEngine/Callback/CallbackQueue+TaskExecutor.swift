/// Tasks that prefer a client's callback queue run where its responses are delivered: between a response and what awaits
/// it there is no further change of threads.
///
///     let queue = CallbackQueue.serial()
///     let client = Client(configuration: .init(callbackQueue: queue))
///     Task(executorPreference: queue) { ... try await client.run(command) ... }
///
/// What those tasks do between two awaits runs one piece at a time, as callbacks do: for many short steps, not for long
/// computations. Actors with executors of their own, the main actor among them, are as ever (SE-0417). Tasks that prefer
/// an ``inline()`` queue run on a serial queue beside it, never on a loop thread.
extension CallbackQueue: TaskExecutor {
    /// Called by the concurrency runtime. Any thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // Never at once: whoever resumes a task may hold its lock, the runtime too while it cancels one.
        (fallbackSerialQueue ?? self).enqueue(.task(job, asUnownedTaskExecutor()))
    }
}
