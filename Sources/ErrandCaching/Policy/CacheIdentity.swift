/// How a client identifies itself to every server in addition to the data of its requests, and whether the client
/// verifies the server. Both are part of the keys under which the client's responses are stored.
package struct CacheIdentity: Sendable {
    /// The client's certificate.
    let certificate: String
    /// The client's credentials for its proxy.
    let proxyUser: String
    /// Whether the client accepts any certificate or host name. Clients that verify the server do not find responses
    /// that such a client stored.
    let isInsecure: Bool
    /// The cookie jar that libcurl takes cookies from; empty for none.
    let jar: String

    package init(_ base: CacheBase) {
        let tls = base.connection.tls
        certificate = tls.identity
        isInsecure = tls.isInsecure
        proxyUser = base.connection.proxy?.userInformation ?? ""
        jar =
            switch base.cookies {
            case .off: ""
            // The jar, and with it the logged-in user, ends with the client. The random number keeps the key unique.
            case .memory: "memory \(UInt64.random(in: .min ... .max)) \(UInt64.random(in: .min ... .max))"
            case .file(let path): "file \(path)"
            }
    }

    /// Whether libcurl adds cookies from its jar to requests that have no `Cookie` field of their own.
    var hasJar: Bool { !jar.isEmpty }
}

extension ConnectionOptions.TLS {
    /// The client certificate and key that identify the client to the server; empty for none.
    var identity: String {
        guard namesClient else { return "" }
        return (clientCertificate?.value ?? "") + "\0" + (clientKey?.value ?? "")
    }

    var isInsecure: Bool { insecureAcceptAnyCertificate == true || insecureAcceptAnyHostName == true }
}

extension ConnectionOptions.Proxy {
    /// `user:password` as the proxy's URL has it; empty for none.
    var userInformation: String {
        guard case .url(let url, _) = self else { return "" }
        return URLReference.userInformation(url)
    }
}

extension URLReference {
    /// `user:password` as an absolute URL has it (RFC 3986 3.2.1); empty for none.
    static func userInformation(_ url: String) -> String {
        guard url.utf8.contains(UInt8(ascii: "@")), let authority = URLReference(url).authority,
            let mark = authority.utf8.lastIndex(of: UInt8(ascii: "@"))
        else { return "" }
        return String(authority[..<mark])
    }

    /// `url` without its `user:password@`.
    static func withoutUserInformation(_ url: String) -> String {
        guard url.utf8.contains(UInt8(ascii: "@")), let authority = URLReference(url).authority,
            let mark = authority.utf8.lastIndex(of: UInt8(ascii: "@"))
        else { return url }
        return String(url[..<authority.startIndex]) + url[authority.utf8.index(after: mark)...]
    }
}
