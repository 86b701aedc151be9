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
