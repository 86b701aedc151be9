public import HTTPTypes

/// The secrets to hide in logs and printed commands: header fields, parameters of queries, forms and JSON bodies, and
/// the user part of URLs. A pure value; any thread.
///
/// The value of a secret is replaced by `REDACTED`; its name stays. Redaction is not complete: a secret in a path, in a
/// text body or under an unlisted name is shown.
public struct Redaction: Sendable, Hashable {
    /// The text that replaces a secret.
    public static let placeholder = "REDACTED"

    /// Names of header fields; case does not matter. Default: ``secretHeaders``.
    public var headers: Set<String> {
        didSet { lowercasedHeaders = Self.lowercased(headers) }
    }
    /// Names of query items, form fields and JSON members. Case, `_` and `-` do not matter; for `user[password]` the
    /// last part is compared. If `token`, `password`, `secret`, `secret_key`, `api_key` or `access_key` is listed, names
    /// that end with it are hidden too: `github_token`. Default: ``secretParameters``.
    public var parameters: Set<String> {
        didSet {
            plainParameters = Self.plain(parameters)
            endings = Self.endings(of: plainParameters)
        }
    }
    /// Whether `user:password@` in URLs, passwords of keys and users of proxies are hidden. Default: yes.
    public var hidesCredentials: Bool

    private var lowercasedHeaders: Set<String>
    private var plainParameters: Set<String>
    /// The endings of names of secrets.
    private var endings: [String]

    /// Makes a redaction; arguments that are left out have the defaults above.
    public init(
        headers: Set<String> = secretHeaders, parameters: Set<String> = secretParameters, hidesCredentials: Bool = true
    ) {
        self.headers = headers
        self.parameters = parameters
        self.hidesCredentials = hidesCredentials
        lowercasedHeaders = Self.lowercased(headers)
        plainParameters = Self.plain(parameters)
        endings = Self.endings(of: plainParameters)
    }

    /// The default: the well-known names.
    public static let standard = Redaction()
    /// Hides nothing: secrets are shown.
    public static let none = Redaction(headers: [], parameters: [], hidesCredentials: false)

    /// Header fields whose values are secrets. A redirect drops all of them when it leads to another origin.
    public static let secretHeaders: Set<String> = [
        "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key", "Api-Key", "X-Auth-Token",
        "X-Access-Token", "X-Csrf-Token", "X-Xsrf-Token", "X-Amz-Security-Token", "X-Goog-Api-Key", "X-Vault-Token",
        "Authentication-Info", "Private-Token", "Apikey", "Ocp-Apim-Subscription-Key", "DD-Api-Key",
    ]

    /// Parameters whose values are usually secrets.
    public static let secretParameters: Set<String> = [
        "token", "access_token", "refresh_token", "id_token", "auth_token", "session_token", "csrf_token", "key",
        "api_key", "access_key", "secret_key", "private_key", "app_key", "auth", "password", "passwd", "pwd",
        "passphrase",
        "secret", "client_secret", "app_secret", "signature", "sig", "sign", "session_id", "x-amz-signature",
        "x-amz-credential", "x-amz-security-token", "x-goog-signature", "x-goog-credential", "credential",
        "authorization", "code_verifier", "client_assertion", "assertion", "otp",
    ]

    /// Whether nothing is hidden.
    public var isNone: Bool { headers.isEmpty && parameters.isEmpty && !hidesCredentials }

    private static func lowercased(_ names: Set<String>) -> Set<String> {
        Set(names.map { $0.lowercased() })
    }

    private static func plain(_ names: Set<String>) -> Set<String> {
        Set(names.map { plain($0[...]) })
    }

    private static func plain(_ name: Substring) -> String {
        name.lowercased().filter { $0 != "_" && $0 != "-" }
    }

    private static func endings(of names: Set<String>) -> [String] {
        ["token", "password", "secret", "secretkey", "apikey", "accesskey"].filter { names.contains($0) }
    }
}

extension Redaction {
    /// Whether the value of a header field of that name is hidden.
    public func hides(header name: String) -> Bool {
        lowercasedHeaders.contains(name.lowercased())
    }

    /// Whether the value of a parameter of that name is hidden; `name` is not percent-encoded.
    public func hides(parameter name: String) -> Bool {
        guard !plainParameters.isEmpty else { return false }
        if isSecret(Self.plain(name[...])) { return true }
        guard let last = name.split(whereSeparator: { "[].".contains($0) }).last else { return false }
        return isSecret(Self.plain(last))
    }

    private func isSecret(_ name: String) -> Bool {
        plainParameters.contains(name) || endings.contains { name.hasSuffix($0) }
    }

    /// Header fields without their secrets.
    public func fields(_ fields: HTTPFields) -> HTTPFields {
        HTTPFields(fields.map { HTTPField(name: $0.name, value: value($0.value, ofHeader: $0.name.canonicalName)) })
    }
}
