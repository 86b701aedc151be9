extension AnyRequest {
    /// Starts the request without reading the cache: the response comes from the network and is stored (YTKNetwork
    /// `startWithoutCache`). Otherwise like ``start()``.
    @discardableResult
    public func startIgnoringCache() -> Bool {
        start(reading: .networkOnly)
    }
}

extension Request {
    /// Calls `observe` with a stored response in this request's next run, before the request is sent. `observe` is
    /// called on the callback queue, at most once, and only with ``CacheReading/cacheThenNetwork``. A stored response
    /// is judged, decoded and validated like any other; if it does not pass, `observe` is not called. The closure is
    /// released at the end of the run.
    public func onCached(_ observe: @escaping @Sendable (C.Response, Response) -> Void) {
        observeCached(observe)
    }
}
