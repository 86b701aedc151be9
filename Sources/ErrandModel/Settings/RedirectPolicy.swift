/// What to do with a redirecting response (RFC 9110 15.4).
///
/// The rules of ``follow(limit:allowsDowngrade:)``: 301 and 302 turn POST into GET and drop the body, 303 turns
/// everything but HEAD into GET and drops the body, 307 and 308 keep method and body; https never leads to http, and
/// neither leads to another scheme (``ErrandError/redirectRefused``). A redirecting status without a usable `Location`
/// is the response itself.
///
/// When scheme, host or port change, the header fields of ``Redaction/secretHeaders`` (`Authorization`, `Cookie`,
/// `Proxy-Authorization`, `X-Api-Key` and the like), all that authenticators and other interceptors added or altered
/// (``RequestDescription/originBoundFields``), `Host`, the credentials of Digest and the TLS client certificate are
/// dropped. Interceptors are not asked again for the new origin. A secret that the command or ``Client/Settings/headers``
/// have in a field that is not listed there goes along: remove it in ``decide``, where a field of an interceptor that is
/// no secret, such as a trace id, may be let through as well.
///
/// User information of a `Location` is never used; a relative `Location` keeps that of the URL it came from (RFC 3986
/// 5.2.2). Its bytes that are not UTF-8 are percent-encoded one by one. A `Location` with a backslash where its host
/// begins or ends, which browsers read as a slash, or with a host that cannot be looked up, is
/// ``ErrandError/redirectRefused``.
public struct RedirectPolicy: Sendable {
    /// What a decision closure says about one hop.
    public enum Decision: Sendable {
        /// Send this; the proposal, or a copy that was altered.
        case follow(RequestDescription)
        /// Take the redirecting response as the response.
        case stop
    }

    /// One hop, before it is made.
    public struct Hop: Sendable {
        /// The redirecting response; without its body where responses are streamed, which decide by the head.
        public let response: Response
        /// What was sent.
        public let from: RequestDescription
        /// What the rules say should be sent.
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

    /// At most so many hops; one more is ``ErrandError/tooManyRedirects``. 0: the redirecting response is the response.
    public var limit: Int
    /// Whether https may lead to http; if not, such a hop is ``ErrandError/redirectRefused``.
    public var allowsDowngrade: Bool
    /// Asked before every hop that the rules allow, on the callback queue or in the caller's task. Where it leads to
    /// another origin than the one that was asked, credentials with the value that was sent are dropped after it, too; a
    /// field that it gives another value stays, and so does one of an interceptor whose name it takes out of
    /// ``RequestDescription/originBoundFields``.
    public var decide: (@Sendable (Hop) -> Decision)?

    /// Makes a policy.
    public init(limit: Int, allowsDowngrade: Bool = false, decide: (@Sendable (Hop) -> Decision)? = nil) {
        self.limit = limit
        self.allowsDowngrade = allowsDowngrade
        self.decide = decide
    }

    /// The default, at most 10 hops: twice what well-run sites need (http to https to www to a language to a login), and
    /// half of what browsers bear, so that a loop ends early.
    public static let follow = RedirectPolicy(limit: 10)

    /// Follow, with these bounds.
    public static func follow(limit: Int, allowsDowngrade: Bool = false) -> RedirectPolicy {
        RedirectPolicy(limit: limit, allowsDowngrade: allowsDowngrade)
    }

    /// Follow by the rules, but ask `decide` before each hop.
    public static func follow(
        limit: Int = 10, deciding decide: @escaping @Sendable (Hop) -> Decision
    ) -> RedirectPolicy {
        RedirectPolicy(limit: limit, decide: decide)
    }

    /// Redirecting responses are responses like any other.
    public static let doNotFollow = RedirectPolicy(limit: 0)
}
