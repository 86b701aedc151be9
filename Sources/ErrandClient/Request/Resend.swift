/// Why a request went to the network once more within one run. ``AnyRequest/resends`` has all of them, in order: their
/// number is OpenTelemetry's `http.request.resend_count` of the last send.
///
/// Retries and hedges take a token of the retry budget. Redirects and replays are what the server or an interceptor
/// asks for, and take none. What libcurl sends again itself within one transfer, on a kept connection that was dead, is
/// not seen here.
public enum Resend: Sendable, Hashable {
    /// The request followed a redirect.
    case redirect
    /// An interceptor had the request sent again, for example with a fresh credential.
    case replay
    /// The engine needed the body of a ``RequestBody`` source once more: a kept connection was dead, or a Digest nonce
    /// stale.
    case body
    /// The client's `resilience` sent another attempt: `status503`, `noConnection`, or `hedge` where the answer was late.
    case retry(String)

    /// Text with few values, fit for a metric label: `redirect`, `replay`, `body`, `status503`, `hedge`.
    public var label: String {
        switch self {
        case .redirect: "redirect"
        case .replay: "replay"
        case .body: "body"
        case .retry(let reason): reason
        }
    }
}
