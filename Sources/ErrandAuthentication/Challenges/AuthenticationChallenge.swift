import HTTPTypes

/// A response of status 401 or 407: who asks for credentials, and which kinds it takes (RFC 9110 11).
public struct AuthenticationChallenge: Sendable {
    /// One kind of credentials that would be taken.
    public struct Offer: Sendable, Hashable {
        /// In lower case: `basic`, `digest`, `bearer`.
        public let scheme: String
        /// The token that some schemes have in place of parameters (`token68`), `Negotiate` for one.
        public let token: String?
        /// By name in lower case, quotes removed.
        public let parameters: [String: String]

        /// The space of resources that one credential opens.
        public var realm: String? { parameters["realm"] }

        init(scheme: String, token: String? = nil, parameters: [String: String] = [:]) {
            self.scheme = scheme
            self.token = token
            self.parameters = parameters
        }

        /// Stronger ones do not show the password, or at least no password.
        fileprivate var strength: Int {
            switch scheme {
            case "digest": 3
            case "bearer": 2
            case "basic": 1
            default: 0
            }
        }
    }

    /// What would be taken: Digest, then Bearer, then Basic, then the others, each in the order of the response. Empty
    /// where the server says 401 and nothing else, which many do against RFC 9110 15.5.2.
    public let offers: [Offer]
    /// Whether a proxy asks (status 407) and not the server.
    public let isProxy: Bool
    /// Where the request went.
    public let url: String
    /// The whole response.
    public let response: Response
    /// 1 for the first challenge of a run that is asked about.
    public let attempt: Int

    /// The challenge in `response` to a request for `url`.
    public init(_ response: Response, url: String, attempt: Int = 1) {
        self.response = response
        self.url = url
        self.attempt = attempt
        isProxy = response.statusCode == 407
        let found = response.headers[values: isProxy ? .proxyAuthenticate : .wwwAuthenticate]
            .flatMap(ChallengeParser.offers)
        // `sorted` keeps the order of equals.
        offers = found.sorted { $0.strength > $1.strength }
    }

    /// Of the strongest offer, in lower case; empty where there is none.
    public var scheme: String { offers.first?.scheme ?? "" }
    /// Of the strongest offer.
    public var realm: String? { offers.first?.realm }
    /// Of the strongest offer.
    public var parameters: [String: String] { offers.first?.parameters ?? [:] }
}
