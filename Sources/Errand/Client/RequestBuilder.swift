import HTTPTypes

/// Turns commands into descriptions by a client's defaults. Pure; any thread.
struct RequestBuilder: Sendable {
    private let baseURL: Result<BaseURL, ErrandError>?
    private let joining: PathJoining
    private let headers: HeaderDefaults
    private let settings: Result<TransferSettings, ErrandError>
    private let defaults: Client.Configuration

    init(_ configuration: Client.Configuration) {
        defaults = configuration
        joining = configuration.pathJoining
        headers = HeaderDefaults(configuration.headers, userAgent: configuration.userAgent)
        baseURL = configuration.baseURL.map { text in
            Result { () throws(ErrandError) in try BaseURL(text) }
        }
        settings = Result { () throws(ErrandError) in
            try TransferSettings(
                timeouts: configuration.timeouts, limits: configuration.limits, priority: .normal, connection: nil)
        }
    }

    /// Throws what keeps a command from being sent; nothing has been opened then.
    func description(of command: some Command) throws(ErrandError) -> RequestDescription {
        let body = command.body
        return RequestDescription(
            method: command.method, url: try url(of: command),
            headers: headers.block(
                command.headers, contentType: body.contentType),
            body: try body.wire(), options: command.options, settings: try settings(of: command))
    }

    private func settings(of command: some Command) throws(ErrandError) -> TransferSettings {
        let timeouts = command.timeouts
        let limits = command.limits
        let priority = command.priority
        let connection = command.connection
        if timeouts == nil, limits == nil, connection == nil, priority == .normal { return try settings.get() }
        return try TransferSettings(
            timeouts: timeouts ?? defaults.timeouts, limits: limits ?? defaults.limits, priority: priority,
            connection: connection)
    }

    func url(of command: some Command) throws(ErrandError) -> String {
        let path = try PercentEncoding.url(command.path)
        var url = try absolute(path, base: command.baseURL)
        let query = command.query
        if !query.isEmpty { url = Self.appending(query, to: url) }
        return url
    }

    private func absolute(_ path: String, base own: String?) throws(ErrandError) -> String {
        if path.utf8.contains(0x3A) {
            let reference = URLReference(path)
            if let scheme = reference.scheme {
                guard reference.authority?.isEmpty == false else {
                    throw Self.schemeWithoutHost(path, scheme, hasBase: own != nil || baseURL != nil)
                }
                guard Self.isSupported(scheme) else {
                    throw ErrandError.unsupportedScheme.with(message: "only http and https are sent, not '\(scheme)'")
                }
                // RFC 3986 5.2.4 for every kind of URL, not only for those that are joined to a base.
                return reference.withoutDotSegments?.text ?? path
            }
        }
        if let own { return try BaseURL(own).joining(path, joining) }
        guard let baseURL else { throw Self.unusable(path) }
        return try baseURL.get().joining(path, joining)
    }

    private static func unusable(_ path: String) -> ErrandError {
        ErrandError.invalidURL.with(
            message: "\(path.debugDescription) is not an absolute URL with a host, and there is no base URL for it")
    }

    /// `a:b`, which RFC 3986 4.2 does not allow for a relative path, or `http:///x`.
    private static func schemeWithoutHost(_ path: String, _ scheme: Substring, hasBase: Bool) -> ErrandError {
        var message = "\(path.debugDescription) reads as a URL of scheme '\(scheme)' without a host"
        if hasBase, !path.utf8.contains(0x2F) { message += "; for a relative path write './\(path)'" }
        return ErrandError.invalidURL.with(message: message)
    }

    static func isSupported(_ scheme: Substring) -> Bool {
        scheme == "http" || scheme == "https" || ["http", "https"].contains(scheme.lowercased())
    }

    private static func appending(_ items: [QueryItem], to url: String) -> String {
        let end = url.firstIndex(of: "#") ?? url.endIndex
        let head = url[..<end]
        let separator = !head.contains("?") ? "?" : head.hasSuffix("?") || head.hasSuffix("&") ? "" : "&"
        return head + separator + PercentEncoding.query(items) + url[end...]
    }
}
