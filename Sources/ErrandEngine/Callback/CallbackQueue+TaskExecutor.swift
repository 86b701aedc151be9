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
