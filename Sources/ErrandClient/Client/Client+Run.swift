import Dispatch

extension Client {
    /// Runs a command and returns its value. Cancelling the task stops the request.
    ///
    /// Throws ``ErrandError``; `CancellationError` where the task was cancelled or the request stopped. Decoding runs in
    /// the caller's task; by way of the callback queue where accessories, interceptors or hooks of the command are to be called.
    public func run<C: Command>(_ command: C, overrides: RequestOverrides? = nil) async throws -> C.Response {
        try Task.checkCancellation()
        guard accessories.isEmpty, interceptors.isEmpty, !command.hasHooks,
            overrides?.hasHooks != true
        else {
            return try await request(command, overrides: overrides).runWatched()
        }
        return try await directRequest(command, overrides).runDirectly()
    }

    /// A function of its own, as its temporary values would else be in the task's frame for as long as the request waits.
    @inline(never)
    private func directRequest<C: Command>(_ command: C, _ overrides: RequestOverrides?) -> Request<C> {
        Request(client: self, command: command, callbacks: queueOfCaller, overrides: overrides, isDirect: true)
    }

    /// Runs a command and returns value or error in place of throwing; ``ErrandError/cancelled`` where the task was
    /// cancelled.
    public func result<C: Command>(
        of command: C, overrides: RequestOverrides? = nil
    ) async -> Result<C.Response, ErrandError> {
        do {
            return .success(try await run(command, overrides: overrides))
        } catch let error as ErrandError {
            return .failure(error)
        } catch {
            return .failure(.cancelled)
        }
    }

    /// The queue of this client's callbacks where the present task prefers it, and else the one that resumes tasks of
    /// the pool.
    var queueOfCaller: CallbackQueue {
        prefersCallbacks ? callbacks.besideInline ?? callbacks : resumptions
    }

    /// Whether the present task prefers the callback queue.
    private var prefersCallbacks: Bool {
        let executor = withUnsafeCurrentTask { $0?.unownedTaskExecutor }
        return executor.map { $0 == callbacks.asUnownedTaskExecutor() } ?? false
    }

    /// Where the events come of a request whose values a task reads as they come: a queue of its own, so that neither a
    /// closure on the callback queue nor another such request holds it up. A task that prefers the callback queue reads
    /// there anyway, and an inline queue is asked for by name.
    package var queueOfReader: CallbackQueue {
        callbacks.isInline || prefersCallbacks ? callbacks : .dispatchQueue(.global())
    }
}
