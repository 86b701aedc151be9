import HTTPTypes

/// Everything that makes two requests equal to a cache. The length of each part is added before the part, so that two
/// different lists of parts never give the same bytes.
struct CacheKeyParts {
    private var bytes: [UInt8] = []

    init(_ kind: String) {
        bytes.reserveCapacity(256)
        add(kind)
    }

    mutating func add(_ text: String) {
        length(text.utf8.count)
        bytes.append(contentsOf: text.utf8)
    }

    mutating func add(_ list: [String]) {
        length(list.count)
        for text in list { add(text) }
    }

    mutating func add(_ part: [UInt8]) {
        length(part.count)
        bytes.append(contentsOf: part)
    }

    private mutating func length(_ count: Int) {
        withUnsafeBytes(of: UInt64(count).littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// `nil` if libcrypto fails.
    func key(in namespace: String) -> CacheKey? {
        guard let digest = SHA256.digest(of: bytes) else { return nil }
        return CacheKey(namespace: namespace, bytes: digest)
    }
}

extension ResponseCachePlan {
    /// The key under which this policy stores the response to `description`; `nil` if the response is not to be
    /// cached. `identity`: how the client identifies itself to every server.
    package func key(for description: RequestDescription, identity: CacheIdentity) -> CacheKey? {
        Self.key(for: description, box, in: cache, identity: identity)
    }

    package static func key(
        for description: RequestDescription, _ box: CachePolicy.Box, in cache: ResponseCache, identity: CacheIdentity
    ) -> CacheKey? {
        let members = box.members
        guard let body = description.cacheableBody else { return nil }
        var parts = CacheKeyParts(members.isTimed ? "timed" : "http")
        // The response stored for GET also answers a HEAD request (RFC 9110 9.3.2).
        let method = description.method
        let fields = KeyFields(description.headers)
        parts.add(method == .head && !members.isTimed ? "GET" : method.rawValue)
        parts.add(members.keyURL(of: description.url))
        // A different `Host` means a different service at the same address.
        parts.add(fields.host)
        parts.add(description.settings.connection?.unixSocketPath?.value ?? "")
        parts.add((description.settings.connection?.tls.isInsecure ?? identity.isInsecure) ? "insecure" : "")
        switch members.kind {
        case .timed(_, _, let sensitiveDigest, _):
            parts.add(body)
            if !body.isEmpty { parts.add(fields.contentType) }
            parts.add(sensitiveDigest ?? "")
        case .http:
            guard method == .get || method == .head, body.isEmpty else { return nil }
        }
        if !members.ignoresCredentials {
            parts.addIdentity(
                of: description, members, isShared: cache.isShared && !members.isTimed, identity: identity)
        }
        switch description.resilience?.choice?.addressFilter ?? .client {
        case .client: break
        case .off: parts.add(["address guard", "off"])
        case .own(let filter):
            // The response is not cached if the filter cannot be compared with others.
            guard let rules = filter.rules else { return nil }
            parts.add(["address guard", rules])
        }
        return parts.key(in: members.namespace ?? cache.namespace)
    }
}

extension CacheKeyParts {
    /// Adds the identity of the user. `isShared`: RFC 9111 3.5, not the key, decides about requests with
    /// `Authorization`.
    fileprivate mutating func addIdentity(
        of description: RequestDescription, _ members: CachePolicy.Members, isShared: Bool, identity: CacheIdentity
    ) {
        let fields = IdentityFields(description, members, isShared: isShared)
        length(fields.found.count)
        for (name, values) in fields.found {
            add(name)
            // Adds all values: a value that the client always sends may precede the value that identifies the user.
            add(values)
        }
        if case .digest(let username, let password) = description.authentication, !isShared {
            add(username)
            add(password)
        }
        let connection = description.settings.connection
        add(connection?.tls.identity ?? identity.certificate)
        add(connection.map { $0.proxy?.userInformation ?? "" } ?? identity.proxyUser)
        // `keyURL` may have removed the user information from the URL.
        add(URLReference.userInformation(description.url))
        // libcurl adds no jar cookies to a request that has a `Cookie` field of its own.
        let hasJar = !fields.hasCookies && !description.options.contains(.withoutCookies)
        add(hasJar && !fields.ignoresCookies ? identity.jar : "")
    }
}

/// The header fields of a request that identify the user: the fields of ``Redaction/secretHeaders``, the fields that an
/// interceptor added, and the fields that the policy names.
struct IdentityFields {
    /// Sorted by name. Names are in lower case.
    private(set) var found: [(name: String, values: [String])] = []
    private(set) var hasCookies = false
    let ignoresCookies: Bool

    private static let secret = Redaction.secretHeaders.map { $0.lowercased() }.sorted()

    init(_ description: RequestDescription, _ members: CachePolicy.Members, isShared: Bool) {
        let ignored = members.ignored
        ignoresCookies = ignored.contains("cookie")
        let added = description.originBoundFields
        var names = Self.secret
        if !added.isEmpty || !members.identityFields.isEmpty {
            let others = added.map(\.canonicalName) + members.identityFields.map { $0.lowercased() }
            names = Set(names + others).sorted()
        }
        let values = description.headers.bytes.withUnsafeBytes { HeaderParser.values(of: names, in: $0) }
        // `values` is empty if the request has none of these fields.
        for (name, values) in zip(names, values) where !values.isEmpty {
            if name == "cookie" { hasCookies = true }
            if ignored.contains(name) || (isShared && name == "authorization") { continue }
            found.append((name, values))
        }
    }
}

/// The other fields that are part of the key, found in one pass.
private struct KeyFields {
    private(set) var host = ""
    private(set) var contentType = ""

    private static let names = ["host", "content-type"]

    init(_ headers: HeaderBlock) {
        let values = headers.bytes.withUnsafeBytes { HeaderParser.values(of: Self.names, in: $0) }
        guard !values.isEmpty else { return }
        host = values[0].first ?? ""
        contentType = values[1].first ?? ""
    }
}

extension RequestDescription {
    /// The bytes of the body if they are known; `nil` if they are not known, or if the response is streamed.
    var cacheableBody: [UInt8]? {
        guard case .buffered = delivery else { return nil }
        switch body {
        case .none: return []
        case .bytes(let bytes): return bytes
        case .data(let data): return Array(data)
        case .shared(let bytes): return bytes.copy()
        case .file, .stream, .source: return nil
        }
    }
}

extension CachePolicy.Members {
    /// The URL that the key is made of, for a request to `url`.
    package func keyURL(of url: String) -> String {
        var result = Self.withoutFragment(url)
        if !ignoredQueryItems.isEmpty { result = withoutIgnoredItems(result) }
        return keyURL.map { $0(result) } ?? result
    }

    static func withoutFragment(_ url: String) -> String {
        guard let mark = url.utf8.firstIndex(of: UInt8(ascii: "#")) else { return url }
        return String(url[..<mark])
    }

    private func withoutIgnoredItems(_ url: String) -> String {
        guard let mark = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return url }
        let query = url[url.utf8.index(after: mark)...]
        let kept = query.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
            .map { Substring($0) }
            .filter { item in
                let name = item.utf8.firstIndex(of: UInt8(ascii: "=")).map { item[..<$0] } ?? item
                return !ignoredQueryItems.contains(String(name))
                    && !ignoredQueryItems.contains(PercentEncoding.decoded(name))
            }
        return kept.isEmpty ? String(url[..<mark]) : url[...mark] + kept.joined(separator: "&")
    }
}
