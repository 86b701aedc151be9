extension RequestBuilder {
    /// `upgrade`: that of the request.
    func url(
        of command: some Command, _ overrides: RequestOverrides? = nil, _ upgrade: (any URLUpgrade)? = nil
    ) throws(ErrandError) -> String {
        var path = command.path
        var rules = command.givenURLRules
        if let overrides, let given = overrides.urlRules { rules = rules.map(given.inheriting) ?? given }
        let filters = rules?.filters ?? settings.urlFilters
        if !filters.isEmpty {
            let all = rules?.filtersAbsoluteURLs ?? settings.filtersAbsoluteURLs
            path = try Self.filtered(path, by: filters, all: all, for: command)
        }
        let joining = rules?.pathJoining ?? settings.pathJoining
        var url = try absolute(try PercentEncoding.url(path), joining, for: command, overrides)
        let query = command.givenQuery
        if !query.isEmpty { url = PercentEncoding.appending(PercentEncoding.query(query), to: url) }
        if let overrides { url = PercentEncoding.appending(PercentEncoding.query(overrides.query), to: url) }
        if let upgrade { upgrade.upgrade(&url) }
        return url
    }

    /// Applies the filters. `all`: to absolute URLs too.
    private static func filtered(
        _ path: String, by filters: [any URLFilter], all: Bool, for command: some Command
    ) throws(ErrandError) -> String {
        if !all {
            let reference = URLReference(path)
            if reference.scheme != nil, reference.authority != nil { return path }
        }
        var path = path
        for filter in filters {
            do {
                path = try filter.filter(path, for: command)
            } catch {
                throw ErrandError.interceptionFailed.with(
                    message: "the URL filter \(type(of: filter)) failed: \(error)", underlying: error)
            }
        }
        return path
    }

    private func absolute(
        _ path: String, _ joining: PathJoining, for command: some Command, _ overrides: RequestOverrides?
    ) throws(ErrandError) -> String {
        let own = ownBaseURL(of: command, overrides)
        if let url = try Self.absolute(path, hasBase: own != nil || baseURL != nil) { return url }
        if overrides?.usesCDN ?? command.givenUsesCDN {
            if let own = ownCDNURL(of: command, overrides) { return try BaseURL(own).joining(path, joining) }
            guard let cdnURL else {
                throw ErrandError.invalidURL.with(
                    message: "\(Redaction.quoted(path)) requires a CDN URL, but none is configured")
            }
            return try cdnURL.get().joining(path, joining)
        }
        if let own { return try BaseURL(own).joining(path, joining) }
        guard let baseURL else { throw Self.unusable(path) }
        return try baseURL.get().joining(path, joining)
    }

    private func ownBaseURL(of command: some Command, _ overrides: RequestOverrides?) -> String? {
        overrides?.baseURL ?? command.givenBaseURL
    }

    private func ownCDNURL(of command: some Command, _ overrides: RequestOverrides?) -> String? {
        overrides?.cdnURL ?? command.givenCDNURL
    }

    /// Whether `url` has an origin that the client's settings name, or that the command names by its own base or CDN URL.
    /// `upgrade`: that of the request.
    func isOwn(
        _ url: String, of command: some Command, _ overrides: RequestOverrides?, _ upgrade: (any URLUpgrade)?
    ) -> Bool {
        if let base = baseURL?.made, Self.isOrigin(base, of: url, upgrade) { return true }
        if let base = cdnURL?.made, Self.isOrigin(base, of: url, upgrade) { return true }
        for case let text? in [ownBaseURL(of: command, overrides), ownCDNURL(of: command, overrides)] {
            if let base = try? BaseURL(text), Self.isOrigin(base, of: url, upgrade) { return true }
        }
        return false
    }

    /// Whether `url` has the origin of the base, or the one that replaces that origin.
    private static func isOrigin(_ base: BaseURL, of url: String, _ upgrade: (any URLUpgrade)?) -> Bool {
        if base.isOrigin(of: url) { return true }
        guard let upgraded = upgrade?.upgraded(base.origin) else { return false }
        return URLReference(upgraded).origin == URLReference(url).origin
    }

    /// `path` if it is an absolute URL, without dot segments; `nil` if it is relative.
    static func absolute(_ path: String, hasBase: Bool) throws(ErrandError) -> String? {
        // Most paths are on the base's host and begin with a slash. RFC 3986 3.1: no scheme begins with a slash.
        if path.utf8.first == UInt8(ascii: "/") { return nil }
        if URLReference.isPlainAbsolute(path) { return path }
        guard path.utf8.contains(0x3A) else { return nil }
        let reference = URLReference(path)
        guard let scheme = reference.scheme else { return nil }
        guard reference.authority?.isEmpty == false else {
            throw schemeWithoutHost(path, scheme, hasBase: hasBase)
        }
        guard isSupported(scheme) else {
            throw ErrandError.unsupportedScheme.with(message: "the URL's scheme is '\(scheme)', expected http or https")
        }
        // RFC 3986 5.2.4 applies to every kind of URL, not only to URLs that are joined to a base.
        return reference.withoutDotSegments?.text ?? path
    }

    static func unusable(_ path: String) -> ErrandError {
        ErrandError.invalidURL.with(
            message: "\(Redaction.quoted(path)) is not an absolute URL with a host, and no base URL is configured")
    }

    /// The error for `a:b`, which RFC 3986 4.2 does not allow as a relative path, or `http:///x`.
    private static func schemeWithoutHost(_ path: String, _ scheme: Substring, hasBase: Bool) -> ErrandError {
        var message = "\(Redaction.quoted(path)) is a URL of scheme '\(scheme)' without a host"
        if hasBase, !path.utf8.contains(where: { $0 == 0x2F || $0 == 0x40 }) {
            message += "; for a relative path write './\(path)'"
        }
        return ErrandError.invalidURL.with(message: message)
    }

    static func isSupported(_ scheme: Substring) -> Bool {
        scheme == "http" || scheme == "https" || ["http", "https"].contains(scheme.lowercased())
    }
}
