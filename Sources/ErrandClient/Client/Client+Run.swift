import Dispatch

extension Client {
    /// Runs a command and returns its value. Cancelling the task stops the request.
    ///
    /// Throws ``ErrandError``, or `CancellationError` if the task was cancelled or the request was stopped. Decoding
    /// runs in the caller's task. If accessories, interceptors or hooks of the command have to be called, the request
    /// runs through the callback queue instead.
    public func run<C: Command>(_ command: C, overrides: RequestOverrides? = nil) async throws -> C.Response {
        try Task.checkCancellation()
        guard accessories.isEmpty, interceptors.isEmpty, !command.hasHooks,
            overrides?.hasHooks != true
        else {
            return try await request(command, overrides: overrides).runWatched()
        }
        return try await directRequest(command, overrides).runDirectly()
    }

    /// A separate function: its temporary values would otherwise stay in the task's frame for as long as the request
    /// waits.
    @inline(never)
    private func directRequest<C: Command>(_ command: C, _ overrides: RequestOverrides?) -> Request<C> {
        Request(client: self, command: command, callbacks: queueOfCaller, overrides: overrides, isDirect: true)
    }

    /// Runs a command and returns its value or error instead of throwing. The error is ``ErrandError/cancelled`` if the
    /// task was cancelled.
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

    /// The client's callback queue if the present task prefers it; otherwise the queue that resumes tasks of the pool.
    var queueOfCaller: CallbackQueue {
        prefersCallbacks ? callbacks.fallbackSerialQueue ?? callbacks : resumptions
    }

    /// Whether the present task prefers the callback queue.
    private var prefersCallbacks: Bool {
        let executor = withUnsafeCurrentTask { $0?.unownedTaskExecutor }
        return executor.map { $0 == callbacks.asUnownedTaskExecutor() } ?? false
    }

    /// The queue for the events of a request whose values a task reads as they arrive. It is a separate queue, so that
    /// neither a closure on the callback queue nor another such request delays the events. If the task prefers the
    /// callback queue, it reads there anyway, and that queue is used. So is an inline callback queue, because the program
    /// chose it explicitly.
    package var queueOfReader: CallbackQueue {
        callbacks.isInline || prefersCallbacks ? callbacks : .dispatchQueue(.global())
    }

    /// The queue for the events of a stream. They only move bytes to the reader and resume it. Therefore the streams of a
    /// client share the queue of resumptions, and the events of one loop turn cost one wake-up. A stream whose redirect
    /// policy has a closure gets a separate queue, because the closure may block it.
    func queueOfStream(with redirects: RedirectPolicy) -> CallbackQueue {
        callbacks.isInline || redirects.decide != nil || prefersCallbacks ? queueOfReader : resumptions
    }
}

extension Client {
    /// Starts a command without callbacks. Read the request afterwards, or use ``request(_:overrides:)`` to set a
    /// delegate before the start.
    @inlinable
    @discardableResult
    public func start<C: Command>(_ command: C, overrides: RequestOverrides? = nil) -> Request<C> {
        let request = request(command, overrides: overrides)
        request.start()
        return request
    }

    /// Starts a command with closures. `success` or `failure` is called at the end, then `completion`. A stopped
    /// request calls none of them, unless ``Client/Configuration/reportsStops`` is set; then it calls `failure` and
    /// `completion`, with ``ErrandError/cancelled``. The closures run once, on the callback queue. They are released
    /// when the run ends.
    ///
    /// A trailing closure without a label is the completion, in every method that takes closures.
    @inlinable
    @discardableResult
    public func start<C: Command>(
        _ command: C, overrides: RequestOverrides? = nil, completion: (@Sendable (Request<C>) -> Void)? = nil,
        success: (@Sendable (Request<C>) -> Void)? = nil, failure: (@Sendable (Request<C>) -> Void)? = nil
    ) -> Request<C> {
        let request = request(command, overrides: overrides)
        request.start(completion: completion, success: success, failure: failure)
        return request
    }
}
