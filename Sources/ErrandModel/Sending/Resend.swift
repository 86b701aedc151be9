/// Why a request was sent to the network once more within one run. `AnyRequest.resends` has all resends, in order: their
/// number is OpenTelemetry's `http.request.resend_count` of the last send. The cases are all possible reasons.
///
/// With a retry budget each resend takes a token of the service that it goes to, with two exceptions. The first send to
/// another service deposits there. The answer to a challenge is only counted. A retry and a hedge without a token are
/// not sent. The others are sent all the same, because the exchange needs them, or because they were sent already.
///
/// The budget also pays for resends within an attempt that has lost to a hedge. They are not in the list if they become
/// known after the end of the run.
public enum Resend: Sendable, Hashable {
    /// The request followed a redirect.
    case redirect
    /// The request was resent with a credential: an authenticator has refreshed a token or answered a challenge, or the
    /// engine itself has answered a Digest challenge.
    case authentication
    /// Another interceptor has resent the request.
    case replay
    /// The engine needed the body of a `RequestBody` source once more: a reused connection was dead, or a Digest nonce
    /// was stale.
    case body
    /// libcurl itself has resent the request on another connection, because the reused connection was dead or has refused
    /// the stream. Added when the head or the end of the response has arrived.
    case connection
    /// An alternative service has answered that it is not the right one (421), and the request was sent to its origin. If
    /// an alternative service was not reached, nothing was sent to it, so the send to the origin is no resend.
    case alternative
    /// A download has sent another request, for the bytes that it lacks.
    case resumption
    /// The cache has asked once more without conditions, because the server's 304 fits no stored response (RFC 9111
    /// 4.3.4).
    case revalidation
    /// The client's `resilience` sent a hedge, because the answer was late. Added when it is sent.
    case hedge
    /// The client's `resilience` sent another attempt after this failure: `status503`, `noConnection`. Added when the
    /// attempt is sent, not when it is decided.
    case retry(String)

    /// Text with few values, fit for a metric label: `redirect`, `authentication`, `connection`, `status503`, `hedge`.
    public var label: String {
        switch self {
        case .redirect: "redirect"
        case .authentication: "authentication"
        case .replay: "replay"
        case .body: "body"
        case .connection: "connection"
        case .alternative: "alternative"
        case .resumption: "resumption"
        case .revalidation: "revalidation"
        case .hedge: "hedge"
        case .retry(let reason): reason
        }
    }
}
