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
