import Errand
import Foundation
import HTTPTypes

/// The settings that all URLs of one `errand fetch` share.
struct FetchSettings: Sendable {
    var method: HTTPRequest.Method
    var headers: HTTPFields
    var body: RequestBody
    /// The file name of `-T`; it is appended to URLs that end with a slash.
    var uploadName: String?
    var timeouts: Timeouts
    /// The limit of one response's body in bytes, on the wire and decoded; `nil`: no limit.
    var bodyLimit: Int?
    var connection: ConnectionOptions
    var followsRedirects: Bool
    var maxRedirects: Int
    var refused: Refusal
    var parallel: Int
    /// `-u`.
    var user: UserArgument?
    var usesDigest = false
    /// The files of `-b` and `-c`; `nil`: no cookie jar.
    var cookies: CookieFiles?
    var isVerbose = false
    /// `--retry`; `nil`: there are no retries.
    var retry: RetryPolicy?

    /// Which responses are failures.
    enum Refusal: Sendable {
        case none
        /// 400 and above.
        case errors
        /// Every status except 200.
        case allButContent
    }

    func refuses(_ status: Int) -> Bool {
        switch refused {
        case .none: false
        case .errors: status >= 400
        case .allButContent: status != 200
        }
    }

    /// The credentials of the URL, or those of `-u`; `nil` if an Authorization header is given.
    func credentials(for job: FetchJob) -> UserArgument? {
        headers[.authorization] == nil ? job.user ?? user : nil
    }

    /// `decide` is called before each redirect.
    func command(
        _ job: FetchJob, deciding decide: @escaping @Sendable (RedirectPolicy.Hop) -> RedirectPolicy.Decision
    ) throws(ErrandError) -> FetchCommand {
        var url = job.address
        if let uploadName, url.hasSuffix("/") { url += URLArgument.encoded(uploadName) }
        var raw = RawCommand(method: method, url: url, headers: headers, body: body)
        if isVerbose { raw.options = .connectionTrace }
        raw.timeouts = timeouts
        raw.limits = Limits(bodyBytes: bodyLimit, decodedBytes: bodyLimit)
        raw.redirects =
            followsRedirects ? .follow(limit: maxRedirects, deciding: decide) : RedirectPolicy.doNotFollow
        return FetchCommand(raw, credentials(for: job), usesDigest: usesDigest)
    }
}

/// One URL and the destination of its body.
struct FetchJob: Sendable {
    enum Output: Sendable, Equatable {
        /// Given by `-o -`, or the default destination.
        case standardOutput(isNamed: Bool)
        case file(String)
        /// `--json-output` without `-o`: the body is not wanted.
        case none

        var isStandardOutput: Bool {
            if case .standardOutput = self { true } else { false }
        }
    }

    /// The URL as given, with a scheme.
    let url: String
    /// The URL without user and password.
    let address: String
    let user: UserArgument?
    let output: Output

    init(_ url: URLArgument, _ output: Output) {
        self.url = url.text
        (address, user) = url.withoutUser
        self.output = output
    }
}

/// A raw command with credentials: Basic credentials are sent immediately, Digest credentials answer a challenge.
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
    var options: CommandOptions { raw.options }
    var timeouts: Timeouts? { raw.timeouts }
    var limits: Limits? { raw.limits }
    var redirects: RedirectPolicy? { raw.redirects }
    var acceptedStatusCodes: StatusCodes { .any }
}
