/// Who a client is to every server, beyond what its requests say, and whether it looks at who the server is: part of the
/// keys of what it stores.
struct CacheIdentity: Sendable {
    /// The client's certificate.
    let certificate: String
    /// Whether anybody is taken for the server: what such a one has said is nothing for those who look.
    let isInsecure: Bool
    /// Which jar libcurl takes cookies from; empty for none.
    let jar: String

    init(_ configuration: Client.Configuration) {
        let tls = configuration.settings.connection.tls
        certificate = tls.identity
        isInsecure = tls.isInsecure
        jar =
            switch configuration.cookies {
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
