import Synchronization

/// Answers requests instead of a service that fails: with a value, with the response of another command, or with a
/// stored response that has expired.
///
/// ```swift
/// configuration.interceptors = [
///     Fallback(.stale(atMost: .seconds(3600)), .response(body: Array("[]".utf8))), authentication,
/// ]
/// ```
///
/// The sources are tried in their order; the first answer is the response of the request, which is checked and decoded
/// like any response. If no source has an answer, the request keeps its first result. A response is then returned as it
/// is. An error gets the reason of the last source in its message, and also as its underlying error if it has none. A
/// request that was stopped, or whose client is shut down, ends without a fallback.
///
/// A fallback is an ``Interceptor``: it stands in for everything inside it, so it is usually the first of a
/// client's interceptors, or an interceptor of one command. Retries, breakers and limits of ``Resilience`` are inside it.
/// If a transfer has used up ``Timeouts/total``, the fallback has another 100 ms, which is enough for a value and for a
/// stored response. The request is not sent again in that time. The command of a fallback may be sent, but is stopped
/// after that time. If the time is up while an interceptor inside waits between two transfers, the request ends without
/// a fallback.
///
/// Observers get ``RequestEvent/fellBack(after:source:)``, and ``counts`` has the numbers. One object may serve many
/// clients. Any thread. (Polly and resilience4j `fallback`, Failsafe `Fallback`.)
public final class Fallback: Interceptor {
    /// What the fallback has done so far.
    public struct Counts: Sendable, Hashable {
        /// The answers that were given in advance.
        public internal(set) var responses = 0
        /// The answers of other commands.
        public internal(set) var commands = 0
        /// The answers of stored responses.
        public internal(set) var stale = 0
        /// The requests for which no source had an answer.
        public internal(set) var failures = 0
    }

    private let sources: [Source]
    private let condition: @Sendable (TransferResult) -> Bool
    private let counted = Mutex(Counts())

    /// `condition`: which results are replaced; it is called in a task of the request. Default: ``isFailure(_:)``.
    public init(
        _ sources: Source..., when condition: @escaping @Sendable (TransferResult) -> Bool = { Fallback.isFailure($0) }
    ) {
        self.sources = sources
        self.condition = condition
    }

    /// The default condition: an error that is transient (``ErrandError/isTransient``), the refusal of a breaker or
    /// limit, ``ErrandError/noEndpoint``, ``ErrandError/deadlineExceeded``, a status of 500 or more, or
    /// ``ErrandError/cancelled``. At this point the last one means that an interceptor inside the fallback has given up
    /// the call.
    public static func isFailure(_ result: TransferResult) -> Bool {
        switch result {
        case .response(let response): response.statusCode >= 500
        case .failure(.circuitOpen), .failure(.limitExceeded), .failure(.noEndpoint), .failure(.deadlineExceeded),
            .failure(.cancelled):
            true
        case .failure(let error): error.isTransient
        }
    }

    /// The numbers so far.
    public var counts: Counts { counted.withLock { $0 } }

    /// Returns the response to the request, or the first answer of the sources.
    public func intercept(
        _ request: RequestDescription, in context: InterceptionContext, next: Next
    ) async throws -> Response {
        let result = await next.result(of: request)
        guard isReplaced(result, in: context) else { return try result.response() }
        var reason: (any Error)?
        for source in sources {
            do {
                let response = try await source.answer(request, result, context, next)
                if context.isWanted {
                    counted.withLock { $0[keyPath: source.kind.count] += 1 }
                    context.notify(.fellBack(after: result, source: source.kind))
                    return response
                }
            } catch {
                reason = error
            }
            // The request was stopped, or its time has expired, while the source worked.
            guard context.isWanted else { throw ErrandError.cancelled }
        }
        counted.withLock { $0.failures += 1 }
        guard let reason, case .failure(let error) = result else { return try result.response() }
        throw error.with(
            message: "\(error.message); the fallback failed: \(reason)", underlying: error.underlyingError ?? reason)
    }

    private func isReplaced(_ result: TransferResult, in context: InterceptionContext) -> Bool {
        guard context.isWanted else { return false }
        if case .failure(.shutDown) = result { return false }
        return condition(result)
    }
}

extension FallbackSource {
    fileprivate var count: WritableKeyPath<Fallback.Counts, Int> {
        switch self {
        case .response: \.responses
        case .command: \.commands
        case .stale: \.stale
        }
    }
}

extension TransferResult {
    /// The whole response, or the error.
    fileprivate func response() throws -> Response {
        switch self {
        case .response(let response): return response
        case .failure(let error): throw error
        }
    }
}
