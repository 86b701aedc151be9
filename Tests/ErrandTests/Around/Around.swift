import Errand
import ErrandTesting
import Synchronization

@testable import ErrandClient
@testable import ErrandModel

/// An interceptor made of a closure.
struct Around: Interceptor {
    let body: @Sendable (RequestDescription, InterceptionContext, InterceptorNext) async throws -> Response

    init(
        _ body: @escaping @Sendable (RequestDescription, InterceptionContext, InterceptorNext) async throws -> Response
    ) {
        self.body = body
    }

    func intercept(
        _ request: RequestDescription, in context: InterceptionContext, next: Next
    ) async throws -> Response {
        try await body(request, context, next)
    }

    /// Notes when it is entered and left.
    static func noting(_ name: String, _ notes: Notes<String>) -> Around {
        Around { request, _, next in
            notes.add("\(name) in")
            defer { notes.add("\(name) out") }
            return try await next(request)
        }
    }
}

struct GetAround: Command {
    var path = "x"
    var interceptors: [any Interceptor] = []
    var cache: CachePolicy?
    var timeouts: Timeouts?
    var acceptedStatusCodes = StatusCodes.inherited
    typealias Response = String
}

/// A stub that answers with the statuses one after the other, and then with the last.
func statuses(_ statuses: Int...) -> StubTransport {
    let left = Mutex(statuses)
    return StubTransport { _ in
        let status = left.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
        return .response(status: status, body: "\(status)")
    }
}

extension Request {
    /// Starts the request and returns when all its callbacks were called.
    func finished() async throws -> Request {
        start()
        try await waitUntil("the request has ended") { state.isFinished && isAtRest }
        return self
    }
}
