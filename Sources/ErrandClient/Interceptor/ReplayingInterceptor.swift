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
