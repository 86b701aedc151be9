/// An ``Interceptor`` that changes requests, such as one that signs them. Only ``StepwiseInterceptor/prepare(_:in:)`` is
/// required. A type with more than this method conforms to ``StepwiseInterceptor`` itself.
public protocol PreparingInterceptor: StepwiseInterceptor {}

extension PreparingInterceptor {
    /// No replay.
    public func replays(after result: TransferResult, in context: InterceptionContext) async throws -> Bool {
        false
    }

    /// No change.
    public func transform(_ response: Response, in context: InterceptionContext) async throws -> Response {
        response
    }
}

/// An ``Interceptor`` that resends requests. Only ``StepwiseInterceptor/replays(after:in:)`` is required. A type with
/// more than this method conforms to ``StepwiseInterceptor`` itself.
public protocol ReplayingInterceptor: StepwiseInterceptor {}

extension ReplayingInterceptor {
    /// No change.
    public func prepare(
        _ request: RequestDescription, in context: InterceptionContext
    ) async throws -> RequestDescription {
        request
    }

    /// No change.
    public func transform(_ response: Response, in context: InterceptionContext) async throws -> Response {
        response
    }
}

/// An ``Interceptor`` that changes responses, such as one that decrypts them. Only
/// ``StepwiseInterceptor/transform(_:in:)`` is required. A type with more than this method conforms to
/// ``StepwiseInterceptor`` itself.
public protocol TransformingInterceptor: StepwiseInterceptor {}

extension TransformingInterceptor {
    /// No change.
    public func prepare(
        _ request: RequestDescription, in context: InterceptionContext
    ) async throws -> RequestDescription {
        request
    }

    /// No replay.
    public func replays(after result: TransferResult, in context: InterceptionContext) async throws -> Bool {
        false
    }
}
