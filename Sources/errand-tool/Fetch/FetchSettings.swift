import Errand
import Foundation
import HTTPTypes

/// What all URLs of one `errand fetch` have in common.
struct FetchSettings: Sendable {
    var method: HTTPRequest.Method
    var headers: HTTPFields
    var body: RequestBody
    /// Of `-T`: where a URL ends with a slash, the file's name is added.
    var uploadName: String?
    var timeouts: Timeouts
    /// Bytes of one response's body, on the wire and decoded; `nil`: any.
    var bodyLimit: Int?
    var connection: ConnectionOptions
    var followsRedirects: Bool
    var maxRedirects: Int
    var refused: Refusal
    var parallel: Int
    /// `-u`.
    var user: UserArgument?
    var usesDigest = false
    /// Of `-b` and `-c`; `nil`: no jar.
    var cookies: CookieFiles?
    var isVerbose = false

    /// Which responses are failures.
    enum Refusal: Sendable {
        case none
        /// 400 and above.
        case errors
        /// All that is not 200.
        case allButContent
    }

    func refuses(_ status: Int) -> Bool {
        switch refused {
        case .none: false
        case .errors: status >= 400
        case .allButContent: status != 200
        }
    }

    /// The URL's own, or those of `-u`; `nil` where a header says who asks.
    func credentials(for job: FetchJob) -> UserArgument? {
        headers[.authorization] == nil ? job.user ?? user : nil
    }

    /// `decide` is asked before each hop.
    func command(
        _ job: FetchJob, deciding decide: @escaping @Sendable (RedirectPolicy.Hop) -> RedirectPolicy.Decision
    ) throws(ErrandError) -> FetchCommand {
        var url = job.address
        if let uploadName, url.hasSuffix("/") { url += URLArgument.encoded(uploadName) }
        var raw = RawCommand(method: method, url: url, headers: headers, body: body)
        raw.timeouts = timeouts
        raw.limits = Limits(bodyBytes: bodyLimit, decodedBytes: bodyLimit)
        raw.redirects =
            followsRedirects ? .follow(limit: maxRedirects, deciding: decide) : RedirectPolicy.doNotFollow
        return FetchCommand(raw, credentials(for: job), usesDigest: usesDigest)
    }
}

/// One URL and where its body goes.
struct FetchJob: Sendable {
    enum Output: Sendable, Equatable {
        /// Named by `-o -`, or where bodies go.
        case standardOutput(isNamed: Bool)
        case file(String)
        /// `--json-output` without `-o`: nobody asked for the body.
        case none

        var isStandardOutput: Bool {
            if case .standardOutput = self { true } else { false }
        }
    }

    /// As it was given, with a scheme.
    let url: String
    /// The same without user and password.
    let address: String
    let user: UserArgument?
    let output: Output

    init(_ url: URLArgument, _ output: Output) {
        self.url = url.text
        (address, user) = url.withoutUser
        self.output = output
    }
}

/// A raw command with credentials: sent at once as Basic, or answering a challenge of Digest.
struct FetchCommand: Command {
    private let raw: RawCommand
    let authorization: Authorization?
    let interceptors: [any Interceptor]

    init(_ raw: RawCommand, _ user: UserArgument?, usesDigest: Bool) {
        self.raw = raw
        guard let user else {
            (authorization, interceptors) = (nil, [])
            return
        }
        guard !usesDigest else {
            (authorization, interceptors) = (.digest(username: user.user, password: user.password), [])
            return
        }
        authorization = .basic(username: user.user, password: user.password)
        interceptors = [
            ChallengeInterceptor { challenge in
                guard !challenge.isProxy, challenge.offers.contains(where: { $0.scheme == "digest" }) else {
                    return .take
                }
                return .digest(username: user.user, password: user.password)
            }
        ]
    }

    var method: HTTPRequest.Method { raw.method }
    var path: String { raw.path }
    var headers: HTTPFields { raw.headers }
    var body: RequestBody { raw.body }
    var timeouts: Timeouts? { raw.timeouts }
    var limits: Limits? { raw.limits }
    var redirects: RedirectPolicy? { raw.redirects }
    var acceptedStatusCodes: StatusCodes { .any }
}
