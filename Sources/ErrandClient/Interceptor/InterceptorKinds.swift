/// An ``Interceptor`` that changes requests, such as one that signs them. Only ``Interceptor/prepare(_:in:)`` is
/// required. A type with more than this method conforms to ``Interceptor`` itself.
public protocol PreparingInterceptor: Interceptor {}

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

/// An ``Interceptor`` that has requests sent again. Only ``Interceptor/replays(after:in:)`` is required. A type with
/// more than this method conforms to ``Interceptor`` itself.
public protocol ReplayingInterceptor: Interceptor {}

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

/// An ``Interceptor`` that changes responses, such as one that decrypts them. Only ``Interceptor/transform(_:in:)`` is
/// required. A type with more than this method conforms to ``Interceptor`` itself.
public protocol TransformingInterceptor: Interceptor {}

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
