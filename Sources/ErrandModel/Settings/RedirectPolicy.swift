/// What to do with a redirecting response (RFC 9110 15.4).
///
/// The rules of ``follow(limit:allowsDowngrade:)``:
/// - 301 and 302 turn POST into GET and drop the body.
/// - 303 turns every method except HEAD into GET and drops the body.
/// - 307 and 308 keep method and body.
/// - A redirect from https to http, unless ``allowsDowngrade`` is set, or to a scheme that is neither, is
///   ``ErrandError/redirectRefused``.
/// - A redirecting status without a usable `Location` is the final response.
///
/// When scheme, host or port change, these are dropped: the header fields of ``Redaction/secretHeaders``
/// (`Authorization`, `Cookie`, `Proxy-Authorization`, `X-Api-Key` and others), all fields that authenticators and
/// other interceptors added or altered (``RequestDescription/originBoundFields``), `Host`, the credentials of Digest
/// and the TLS client certificate. Interceptors do not run again for the new origin. A secret in any other field of the
/// command or of ``Client/Settings/headers`` is sent to the new origin: remove it in ``decide``. ``decide`` may also
/// keep a field of an interceptor that is not secret, such as a trace id.
///
/// User information in a `Location` is never used; a relative `Location` keeps that of the URL it came from (RFC 3986
/// 5.2.2). Bytes of a `Location` that are not UTF-8 are percent-encoded one by one. A `Location` is
/// ``ErrandError/redirectRefused`` if it has a backslash where its host begins or ends, which browsers read as a slash,
/// or a host that cannot be looked up.
public struct RedirectPolicy: Sendable {
    /// The result of a decision closure for one hop.
    public enum Decision: Sendable {
        /// Send this request: the proposal, or an altered copy of it.
        case follow(RequestDescription)
        /// Use the redirecting response as the final response.
        case stop
    }

    /// One redirect, before it is followed.
    public struct Hop: Sendable {
        /// The redirecting response; without its body for streamed responses, where the decision needs only the head.
        public let response: Response
        /// The request that was redirected.
        public let from: RequestDescription
        /// The next request according to the rules.
        public let proposal: RequestDescription
        /// 1 for the first hop.
        public let count: Int

        package init(response: Response, from: RequestDescription, proposal: RequestDescription, count: Int) {
            self.response = response
            self.from = from
            self.proposal = proposal
            self.count = count
        }
    }

    /// The largest number of hops; one more is ``ErrandError/tooManyRedirects``. 0: redirecting responses are final.
    public var limit: Int
    /// Whether https may lead to http; if not, such a hop is ``ErrandError/redirectRefused``.
    public var allowsDowngrade: Bool
    /// Called before every hop that the rules allow, on the callback queue or in the caller's task. If the returned
    /// request goes to another origin, credentials whose value was already sent are dropped from it, too. A field that
    /// the closure gives another value stays, and so does an interceptor's field whose name the closure removes from
    /// ``RequestDescription/originBoundFields``.
    public var decide: (@Sendable (Hop) -> Decision)?

    /// Makes a policy.
    public init(limit: Int, allowsDowngrade: Bool = false, decide: (@Sendable (Hop) -> Decision)? = nil) {
        self.limit = limit
        self.allowsDowngrade = allowsDowngrade
        self.decide = decide
    }

    /// The default, at most 10 hops: twice what well-run sites need (http to https to www to a language to a login),
    /// and half of what browsers allow, so that a loop ends early.
    public static let follow = RedirectPolicy(limit: 10)

    /// Follow redirects within these limits.
    public static func follow(limit: Int, allowsDowngrade: Bool = false) -> RedirectPolicy {
        RedirectPolicy(limit: limit, allowsDowngrade: allowsDowngrade)
    }

    /// Follow redirects by the rules, and call `decide` before each hop.
    public static func follow(
        limit: Int = 10, deciding decide: @escaping @Sendable (Hop) -> Decision
    ) -> RedirectPolicy {
        RedirectPolicy(limit: limit, decide: decide)
    }

    /// Redirecting responses are final responses.
    public static let doNotFollow = RedirectPolicy(limit: 0)
}
