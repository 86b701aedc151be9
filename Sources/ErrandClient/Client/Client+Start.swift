extension Client {
    /// Starts a command and tells nobody; read the request, or give it a delegate with ``request(_:overrides:)`` instead.
    @discardableResult
    public func start<C: Command>(_ command: C, overrides: RequestOverrides? = nil) -> Request<C> {
        let request = request(command, overrides: overrides)
        request.start()
        return request
    }

    /// Starts a command. One of the closures runs, on the callback queue, unless the request is stopped; both are
    /// released then.
    @discardableResult
    public func start<C: Command>(
        _ command: C, overrides: RequestOverrides? = nil, success: @escaping @Sendable (Request<C>) -> Void,
        failure: (@Sendable (Request<C>) -> Void)? = nil
    ) -> Request<C> {
        let request = request(command, overrides: overrides)
        request.start(success: success, failure: failure)
        return request
    }

    /// Starts a command. The closure runs once, on the callback queue, unless the request is stopped.
    @discardableResult
    public func start<C: Command>(
        _ command: C, overrides: RequestOverrides? = nil, completion: @escaping @Sendable (Request<C>) -> Void
    ) -> Request<C> {
        let request = request(command, overrides: overrides)
        request.start(completion: completion)
        return request
    }
}
