/// Tasks that prefer a client's callback queue run where its completions are delivered: an `await` of a request then
/// costs no change of threads.
///
///     let queue = CallbackQueue.serial()
///     let client = Client(configuration: .init(callbackQueue: queue))
///     Task(executorPreference: queue) { ... try await client.run(command) ... }
///
/// All that those tasks do between two awaits runs one piece at a time, as callbacks do: for many short steps, not for
/// long computations (SE-0417).
extension CallbackQueue: TaskExecutor {
    /// Called by the concurrency runtime. Any thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        enqueue(task: UnownedJob(job))
    }
}
