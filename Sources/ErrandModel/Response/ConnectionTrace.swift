public import FoundationEssentials

/// The connection that an attempt is sent on, in `RequestEvent.connected`, for requests with
/// ``CommandOptions/connectionTrace``. A value: any thread.
///
/// A handshake that fails has no trace, because there is no connection: the error has the reason. Two traces with the
/// same addresses, one after the other, are about one connection.
public struct ConnectionTrace: Sendable, Hashable {
    /// A TLS session. Known if libcurl uses the process's OpenSSL, as the packages of Debian, Ubuntu and Fedora do.
    public struct TLS: Sendable, Hashable {
        /// `TLSv1.3`.
        public var version: String
        /// `TLS_AES_256_GCM_SHA384`.
        public var cipher: String?
        /// The protocol that ALPN has chosen: `h2`, `http/1.1`; `nil`: none.
        public var applicationProtocol: String?
        /// The handshake has resumed an earlier session.
        public var isResumed = false
        /// Why the certificate is not trusted, in OpenSSL's words; `nil`: it is trusted. A connection with an untrusted
        /// certificate has a trace only with ``ConnectionOptions/TLS/insecureAcceptAnyCertificate``. A certificate of
        /// another host is no such reason.
        public var verificationError: String?
        /// The server's certificate, then the others that it has sent, 8 at most. With a resumed session perhaps only the
        /// server's certificate.
        public var certificates: [Certificate] = []

        /// Makes a session without certificates.
        public init(version: String) { self.version = version }
    }

    /// A certificate of a server.
    public struct Certificate: Sendable, Hashable {
        /// `C=DE, O=Example, CN=example.com`.
        public var subject: String
        /// The subject of the certificate that has signed this one.
        public var issuer = ""
        /// The first moment at which it is valid.
        public var notBefore: Date?
        /// The last moment at which it is valid.
        public var notAfter: Date?
        /// SHA-256 of the certificate, 64 hexadecimal digits.
        public var sha256 = ""
        /// The names that it is for: `DNS:example.com`, `IP:127.0.0.1`; 100 at most.
        public var names: [String] = []

        /// Makes a certificate with this subject.
        public init(subject: String) { self.subject = subject }
    }

    /// The connection has served a request before. The phases below are `nil` then.
    public var isReused = false
    /// `127.0.0.1:80`, `[::1]:80`: the server's address, or that of the proxy; `nil`: a Unix socket.
    public var remoteAddress: String?
    /// The local address of the connection, in the format of ``remoteAddress``.
    public var localAddress: String?
    /// The URL of the proxy, without credentials; `nil`: none. With libcurl before 8.7 the proxy is not known if some hosts
    /// are reached without it.
    public var proxy: String?
    /// How long the attempt waited for admission.
    public var queue: Duration = .zero
    /// Until the name was looked up, from the moment the engine started the transfer, as in ``TransferMetrics``.
    public var resolved: Duration?
    /// Until TCP was connected.
    public var connected: Duration?
    /// Until TLS was ready.
    public var secured: Duration?
    /// `nil`: a connection in clear text, or nothing is known about its session.
    public var tls: TLS?

    /// Makes a trace of a new connection of which nothing is known.
    public init() {}
}
