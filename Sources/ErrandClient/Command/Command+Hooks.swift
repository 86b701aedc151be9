extension Command where InterceptorsMember == [any Interceptor] {
    /// The default: no interceptors.
    @inlinable public var interceptors: [any Interceptor] { [] }
}

extension Command where ValidatorMember == (@Sendable (Response, ErrandModel.Response) async throws -> Void)? {
    /// The default: no validator.
    @inlinable public var validator: (@Sendable (Response, ErrandModel.Response) async throws -> Void)? { nil }
}

extension Command where SuccessPreprocessorMember == (@Sendable (Response, ErrandModel.Response) async -> Void)? {
    /// The default: no preprocessor.
    @inlinable public var successPreprocessor: (@Sendable (Response, ErrandModel.Response) async -> Void)? { nil }
}

extension Command where FailurePreprocessorMember == (@Sendable (ErrandError) async -> Void)? {
    /// The default: no preprocessor.
    @inlinable public var failurePreprocessor: (@Sendable (ErrandError) async -> Void)? { nil }
}

extension Command where SuccessFilterMember == (@Sendable (Request<Self>) -> Void)? {
    /// The default: no filter.
    @inlinable public var successFilter: (@Sendable (Request<Self>) -> Void)? { nil }
}

extension Command where FailureFilterMember == (@Sendable (Request<Self>) -> Void)? {
    /// The default: no filter.
    @inlinable public var failureFilter: (@Sendable (Request<Self>) -> Void)? { nil }
}

extension Command {
    /// Whether the command has hooks beyond judging and decoding, so that the request cannot take the short path.
    package var hasHooks: Bool {
        !givenInterceptors.isEmpty || givenValidator != nil || givenSuccessPreprocessor != nil
            || givenFailurePreprocessor != nil
            || givenSuccessFilter != nil || givenFailureFilter != nil
    }
}
