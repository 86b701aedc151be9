import HTTPTypes

/// A response of status 401 or 407: the server or proxy that requires credentials, and the schemes that it accepts (RFC
/// 9110 11).
public struct AuthenticationChallenge: Sendable {
    /// One accepted scheme.
    public struct Offer: Sendable, Hashable {
        /// In lower case: `basic`, `digest`, `bearer`.
        public let scheme: String
        /// The token that some schemes, such as `Negotiate`, have instead of parameters (`token68`).
        public let token: String?
        /// The parameters by name in lower case, without quotes.
        public let parameters: [String: String]

        /// The protection space that one credential is valid for.
        public var realm: String? { parameters["realm"] }

        init(scheme: String, token: String? = nil, parameters: [String: String] = [:]) {
            self.scheme = scheme
            self.token = token
            self.parameters = parameters
        }

        /// Stronger schemes do not send the password, or send a token instead.
        fileprivate var strength: Int {
            switch scheme {
            case "digest": 3
            case "bearer": 2
            case "basic": 1
            default: 0
            }
        }
    }

    /// The accepted schemes: Digest, then Bearer, then Basic, then the others, each in the order of the response. Empty
    /// if the server names no scheme in its 401, as many servers do against RFC 9110 15.5.2.
    public let offers: [Offer]
    /// Whether a proxy (status 407), not the server, requires credentials.
    public let isProxy: Bool
    /// The URL of the request.
    public let url: String
    /// The whole response.
    public let response: Response
    /// 1 for the first challenge of a run that the handler is asked about.
    public let attempt: Int

    /// The challenge in `response` to a request for `url`.
    public init(_ response: Response, url: String, attempt: Int = 1) {
        self.response = response
        self.url = url
        self.attempt = attempt
        isProxy = response.statusCode == 407
        let found = response.headers[values: isProxy ? .proxyAuthenticate : .wwwAuthenticate]
            .flatMap(ChallengeParser.offers)
        // `sorted` is stable.
        offers = found.sorted { $0.strength > $1.strength }
    }

    /// The scheme of the strongest offer, in lower case; `nil` if there is none.
    public var scheme: String? { offers.first?.scheme }
    /// The realm of the strongest offer.
    public var realm: String? { offers.first?.realm }
    /// The parameters of the strongest offer.
    public var parameters: [String: String] { offers.first?.parameters ?? [:] }
}

/// The side that requires credentials.
enum ChallengeSide: Sendable, Hashable, CaseIterable {
    case server, proxy

    /// `nil` for statuses other than 401 and 407.
    init?(statusCode: Int) {
        switch statusCode {
        case 401: self = .server
        case 407: self = .proxy
        default: return nil
        }
    }

    /// The header field for the credentials.
    var field: HTTPField.Name {
        switch self {
        case .server: .authorization
        case .proxy: .proxyAuthorization
        }
    }
}
