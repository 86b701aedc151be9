extension Client {
    /// Starts a command and tells nobody; read the request, or give it a delegate with ``request(_:overrides:)`` instead.
    @discardableResult
    public func start<C: Command>(_ command: C, overrides: RequestOverrides? = nil) -> Request<C> {
        let request = request(command, overrides: overrides)
        request.start()
        return request
    }

    /// Starts a command. `completion` is told of any end, `success` or `failure` before it of one of them; they run once, on
    /// the callback queue, unless the request is stopped, and are released then.
    ///
    /// A trailing closure without a label is the completion, wherever closures are given.
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
