/// How to reach a server: HTTP version, TLS, proxy, addresses.
///
/// Requests with equal options share connections. The engine makes one object per distinct value and keeps it, so use a
/// few values, not one per request. A value that cannot be used (an unreadable file, a feature this libcurl was built
/// without) fails the request with the engine's own error before any socket is opened.
public struct ConnectionOptions: Sendable, Hashable {
    /// Which version of HTTP to speak.
    public enum HTTPVersionPolicy: Sendable, Hashable {
        /// HTTP/1.1 with a libcurl older than 8.2, whose HTTP/2 may report a truncated body as complete; from 8.2 on,
        /// HTTP/2 where TLS negotiates it.
        case automatic
        /// HTTP/1.1 only.
        case http1
        /// HTTP/2 where TLS negotiates it, HTTP/1.1 otherwise.
        case http2OverTLS
        /// HTTP/2 without asking. In clear text it needs libcurl 8.0.
        case http2PriorKnowledge
    }

    /// Content encodings to ask for and to decode on the way.
    public struct Encodings: OptionSet, Sendable, Hashable {
        /// `ERRAND_ENCODING_*` of the core.
        public let rawValue: UInt32
        /// Makes a set from its bits.
        public init(rawValue: UInt32) { self.rawValue = rawValue }
        /// `gzip`
        public static let gzip = Encodings(rawValue: 1)
        /// `deflate`
        public static let deflate = Encodings(rawValue: 2)
        /// `br`
        public static let brotli = Encodings(rawValue: 4)
        /// `zstd`
        public static let zstd = Encodings(rawValue: 8)
        /// Whatever of the above this libcurl can decode.
        public static let all: Encodings = [.gzip, .deflate, .brotli, .zstd]
    }

    /// TLS settings.
    public struct TLS: Sendable, Hashable {
        /// The least version to accept.
        public enum Version: Sendable, Hashable {
            /// TLS 1.2, the default.
            case v1_2
            /// TLS 1.3.
            case v1_3
        }

        /// PEM file of trusted authorities. `nil`: libcurl's own bundle (CURLOPT_CAINFO).
        public var caFile: String?
        /// PEM file of the authorities of a proxy that is itself spoken to by TLS (`https://proxy:3128`). `nil`: libcurl's
        /// own bundle, whatever ``caFile`` and the other members say: those are about servers (CURLOPT_PROXY_CAINFO).
        public var proxyCAFile: String?
        /// PEM file of the client's certificate (CURLOPT_SSLCERT).
        public var clientCertificate: String?
        /// PEM file of the client's key; `nil`: in the certificate's file (CURLOPT_SSLKEY).
        public var clientKey: String?
        /// Password of the client's key (CURLOPT_KEYPASSWD).
        public var clientKeyPassword: String?
        /// Base64 of SHA-256 of public keys, with or without the prefix `sha256//`; any match passes, none is
        /// ``ErrandError/tlsPinMismatch``. Empty: no pinning (CURLOPT_PINNEDPUBLICKEY).
        public var pinnedKeys: [String]
        /// Default: 1.2.
        public var minimumVersion: Version
        /// Accepts any certificate. Nothing is protected then; for tests alone.
        public var insecureAcceptAnyCertificate: Bool
        /// Accepts a certificate for any host. Nothing is protected then; for tests alone.
        public var insecureAcceptAnyHostName: Bool

        /// Makes TLS settings; what is left out has the default above.
        public init(
            caFile: String? = nil, clientCertificate: String? = nil, clientKey: String? = nil,
            clientKeyPassword: String? = nil, pinnedKeys: [String] = [], minimumVersion: Version = .v1_2,
            insecureAcceptAnyCertificate: Bool = false, insecureAcceptAnyHostName: Bool = false
        ) {
            self.caFile = caFile
            self.clientCertificate = clientCertificate
            self.clientKey = clientKey
            self.clientKeyPassword = clientKeyPassword
            self.pinnedKeys = pinnedKeys
            self.minimumVersion = minimumVersion
            self.insecureAcceptAnyCertificate = insecureAcceptAnyCertificate
            self.insecureAcceptAnyHostName = insecureAcceptAnyHostName
        }
    }

    /// Whether and which proxy to use.
    public enum Proxy: Sendable, Hashable {
        /// None, whatever the environment says. The default.
        case none
        /// An `http://`, `https://`, `socks5://` or `socks5h://` URL; `bypass` are hosts reached without it. A proxy that
        /// wants to know who asks gets it from the URL: `http://user:password@proxy:3128`, both percent-encoded; they go
        /// to the proxy alone (CURLOPT_PROXY).
        case url(String, bypass: [String] = [])
        /// `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, read once.
        case environment
    }

    /// Default: automatic.
    public var httpVersion: HTTPVersionPolicy
    /// Default: none. Sent as `Accept-Encoding`; bodies arrive decoded.
    public var encodings: Encodings
    /// Default: libcurl's authorities, TLS 1.2 or later.
    public var tls: TLS
    /// Default: none.
    public var proxy: Proxy
    /// `host:port:address[,address]` each: connect there instead of asking DNS; SNI and `Host` stay the host's
    /// (CURLOPT_RESOLVE).
    public var resolveOverrides: [String]
    /// Connect to this socket instead of the URL's host (CURLOPT_UNIX_SOCKET_PATH). It stands for the network: whatever the
    /// host is, that of a redirect included, the request goes there.
    public var unixSocketPath: String?
    /// Address to connect from, or the name of an interface that is there (CURLOPT_INTERFACE); a host name or anything
    /// else is ``ErrandError/invalidOption``.
    public var localInterface: String?
    /// Seconds until the first TCP keep-alive probe, and between probes; at most 86,400. `nil`: none.
    public var tcpKeepaliveSeconds: UInt32?
    /// A kept connection idle for longer, at most 86,400, is not used again. `nil`: 50 s, below the 60 and 75 s at which common servers
    /// close.
    public var idleConnectionSeconds: UInt32?

    /// Makes options; what is left out has the default above.
    public init(
        httpVersion: HTTPVersionPolicy = .automatic, encodings: Encodings = [], tls: TLS = TLS(), proxy: Proxy = .none,
        resolveOverrides: [String] = [], unixSocketPath: String? = nil, localInterface: String? = nil,
        tcpKeepaliveSeconds: UInt32? = nil, idleConnectionSeconds: UInt32? = nil
    ) {
        self.httpVersion = httpVersion
        self.encodings = encodings
        self.tls = tls
        self.proxy = proxy
        self.resolveOverrides = resolveOverrides
        self.unixSocketPath = unixSocketPath
        self.localInterface = localInterface
        self.tcpKeepaliveSeconds = tcpKeepaliveSeconds
        self.idleConnectionSeconds = idleConnectionSeconds
    }
}
