extension Command {
    /// None.
    public var interceptors: [any Interceptor] { [] }
    /// None.
    public var validator: (@Sendable (Response, ErrandModel.Response) async throws -> Void)? { nil }
    /// None.
    public var successPreprocessor: (@Sendable (Response, ErrandModel.Response) async -> Void)? { nil }
    /// None.
    public var failurePreprocessor: (@Sendable (ErrandError) async -> Void)? { nil }
    /// None.
    public var successFilter: (@Sendable (Request<Self>) -> Void)? { nil }
    /// None.
    public var failureFilter: (@Sendable (Request<Self>) -> Void)? { nil }

    /// Whether anything but judging and decoding is to be done, so that the request cannot take the short way.
    package var hasHooks: Bool {
        !interceptors.isEmpty || validator != nil || successPreprocessor != nil || failurePreprocessor != nil
            || successFilter != nil || failureFilter != nil
    }
}
