import FoundationEssentials
public import HTTPTypes

extension Fallback {
    /// Where an answer comes from.
    public struct Source: Sendable {
        let kind: FallbackSource
        let answer:
            @Sendable (RequestDescription, TransferResult, InterceptionContext, InterceptorNext) async throws ->
                Response

        /// A response given in advance. Default: 200 with an empty body.
        public static func response(
            status: Int = 200, headers: HTTPFields = HTTPFields(), body: [UInt8] = []
        ) -> Source {
            let response = Response(statusCode: status, headers: headers, body: body)
            return Source(kind: .response) { _, _, _, _ in response.asAnswer }
        }

        /// The response that `make` returns; `result` is the one that it replaces. If `make` throws, the next source is
        /// tried. Called in a task of the request; it may wait.
        public static func response(
            _ make: @escaping @Sendable (_ result: TransferResult) async throws -> Response
        ) -> Source {
            Source(kind: .response) { _, result, _, _ in try await make(result).asAnswer }
        }

        /// A value as JSON, with status 200 and the content type `application/json`. It is encoded for each answer; if
        /// that fails, the next source is tried.
        public static func json(_ value: some Encodable & Sendable) -> Source {
            Source(kind: .response) { _, _, _, _ in
                let body = try SharedCoders.jsonEncoder.encode(value)
                return Response(statusCode: 200, headers: [.contentType: "application/json"], body: Array(body))
                    .asAnswer
            }
        }

        /// The response of another command, which the client of the request runs
        /// (``InterceptionContext/run(_:overrides:)``). The other command has to accept and decode its response; the
        /// request decodes that response again, as its own. If the other command fails, the next source is tried.
        public static func command(_ command: some Command, overrides: RequestOverrides? = nil) -> Source {
            Source(kind: .command) { _, _, context, _ in
                try await context.outcome(of: command, overrides: overrides).response.asAnswer
            }
        }

        /// The stored response to the request, fresh or expired, if the request has a cache policy. `time`: for how
        /// long after its expiry the response may be used, rounded up to whole seconds; `nil`, the default: without a
        /// limit. A response that must not be used without revalidation (`no-cache`, `must-revalidate`; RFC 9111 4.2.4)
        /// is not used.
        ///
        /// The request passes the interceptors inside the fallback once more, because the fields that they add are part
        /// of the cache's key, and they may have to decrypt the response. The request itself is not sent; interceptors
        /// inside may send requests of their own. The lookup does not count towards
        /// ``InterceptionContext/replayLimit``.
        ///
        /// (``CachePolicy/staleIfError`` does the same within the cache, for network failures and the
        /// statuses 500, 502, 503 and 504.)
        public static func stale(atMost time: Duration? = nil) -> Source {
            Source(kind: .stale) { request, _, _, next in
                guard let stale = request.readingStale(atMost: time) else {
                    throw ErrandError(.cacheMiss).with(message: "the request is not cached", isRefusal: true)
                }
                return try await next(stale)
            }
        }
    }
}
