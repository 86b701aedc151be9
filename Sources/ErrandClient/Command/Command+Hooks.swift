extension Command where InterceptorsMember == [any Interceptor] {
    /// None.
    @inlinable public var interceptors: [any Interceptor] { [] }
}

extension Command where ValidatorMember == (@Sendable (Response, ErrandModel.Response) async throws -> Void)? {
    /// None.
    @inlinable public var validator: (@Sendable (Response, ErrandModel.Response) async throws -> Void)? { nil }
}

extension Command where SuccessPreprocessorMember == (@Sendable (Response, ErrandModel.Response) async -> Void)? {
    /// None.
    @inlinable public var successPreprocessor: (@Sendable (Response, ErrandModel.Response) async -> Void)? { nil }
}

extension Command where FailurePreprocessorMember == (@Sendable (ErrandError) async -> Void)? {
    /// None.
    @inlinable public var failurePreprocessor: (@Sendable (ErrandError) async -> Void)? { nil }
}

extension Command where SuccessFilterMember == (@Sendable (Request<Self>) -> Void)? {
    /// None.
    @inlinable public var successFilter: (@Sendable (Request<Self>) -> Void)? { nil }
}

extension Command where FailureFilterMember == (@Sendable (Request<Self>) -> Void)? {
    /// None.
    @inlinable public var failureFilter: (@Sendable (Request<Self>) -> Void)? { nil }
}

extension Command {
    /// Whether anything but judging and decoding is to be done, so that the request cannot take the short way.
    package var hasHooks: Bool {
        !givenInterceptors.isEmpty || givenValidator != nil || givenSuccessPreprocessor != nil
            || givenFailurePreprocessor != nil
            || givenSuccessFilter != nil || givenFailureFilter != nil
    }
}
