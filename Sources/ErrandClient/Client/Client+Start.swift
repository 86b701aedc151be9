extension Client {
    /// Starts a command without callbacks. Read the request afterwards, or use ``request(_:overrides:)`` to set a
    /// delegate before the start.
    @discardableResult
    public func start<C: Command>(_ command: C, overrides: RequestOverrides? = nil) -> Request<C> {
        let request = request(command, overrides: overrides)
        request.start()
        return request
    }

    /// Starts a command with closures. `success` or `failure` is called when the request succeeds or fails;
    /// `completion` is called after it, however the request ends. The closures run once, on the callback queue, unless
    /// the request is stopped. They are released when the run ends.
    ///
    /// A trailing closure without a label is the completion, in every method that takes closures.
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
