/// Who a client is to every server, beyond what its requests say, and whether it looks at who the server is: part of the
/// keys of what it stores.
package struct CacheIdentity: Sendable {
    /// The client's certificate.
    let certificate: String
    /// Who the client is to its proxy.
    let proxyUser: String
    /// Whether anybody is taken for the server: what such a one has said is nothing for those who look.
    let isInsecure: Bool
    /// Which jar libcurl takes cookies from; empty for none.
    let jar: String

    package init(_ base: CacheBase) {
        let tls = base.connection.tls
        certificate = tls.identity
        isInsecure = tls.isInsecure
        proxyUser = base.connection.proxy?.userInformation ?? ""
        jar =
            switch base.cookies {
            case .off: ""
            // Gone with its client, and so is who it logged in.
            case .memory: "memory \(UInt64.random(in: .min ... .max)) \(UInt64.random(in: .min ... .max))"
            case .file(let path): "file \(path)"
            }
    }

    /// Whether libcurl adds cookies of its own to requests that do not say otherwise.
    var hasJar: Bool { !jar.isEmpty }
}

extension ConnectionOptions.TLS {
    /// Who the client is to the server.
    var identity: String {
        guard namesClient else { return "" }
        return (clientCertificate ?? "") + "\0" + (clientKey ?? "")
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
