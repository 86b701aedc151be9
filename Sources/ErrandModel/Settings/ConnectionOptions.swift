/// How to reach a server: HTTP version, TLS, proxy, addresses.
///
/// What is left `nil` is inherited, member by member: from the command by an override, from the client by a command, and
/// from the library by the client. So a command that only asks for gzip keeps the client's proxy, authorities and pins.
/// What is inherited is undone by saying the library's own: an empty text or list is none, as ``Proxy/direct`` is.
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
        /// HTTP/2 without asking. In clear text each request has a connection of its own before libcurl 8.0, which
        /// cannot reuse such a one.
        case http2PriorKnowledge
    }

    /// Content encodings to ask for and to decode on the way (RFC 9110 8.4). With any of them every coding that the C core
    /// knows is decoded, also several one upon the other. A body whose coding is unknown, malformed or ends too early is
    /// ``ErrandError/contentDecodingFailed``.
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
        /// Whatever of the above the C core was built with.
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

        /// PEM file of trusted authorities. The library's, which empty says too: libcurl's own bundle (CURLOPT_CAINFO).
        public var caFile: String?
        /// PEM file of the authorities of a proxy that is itself spoken to by TLS (`https://proxy:3128`). The library's, which
        /// empty says too: libcurl's own bundle, whatever ``caFile`` and the other members say: those are about servers
        /// (CURLOPT_PROXY_CAINFO).
        public var proxyCAFile: String?
        /// PEM file of the client's certificate; empty: none. A certificate brings its key and password along: where one
        /// is said, neither is inherited (CURLOPT_SSLCERT).
        public var clientCertificate: String?
        /// PEM file of the client's key. None: in the certificate's file (CURLOPT_SSLKEY).
        public var clientKey: String?
        /// Password of the client's key (CURLOPT_KEYPASSWD).
        public var clientKeyPassword: String?
        /// Base64 of SHA-256 of public keys, with or without the prefix `sha256//`; any match passes, none is
        /// ``ErrandError/tlsPinMismatch``. Empty, the library's: no pinning (CURLOPT_PINNEDPUBLICKEY).
        public var pinnedKeys: [String]?
        /// The library's: 1.2.
        public var minimumVersion: Version?
        /// Accepts any certificate. Nothing is protected then; for tests alone. The library's: no.
        public var insecureAcceptAnyCertificate: Bool?
        /// Accepts a certificate for any host. Nothing is protected then; for tests alone. The library's: no.
        public var insecureAcceptAnyHostName: Bool?
        /// Whether a request in clear text (`http://`) is refused, with ``ErrandError/unsupportedScheme`` and before any
        /// socket. Where nobody says so: yes if these settings, with what they inherit, pin keys, or if an entry of
        /// ``TLSPolicies`` names a client certificate, as whoever says that of a host does not mean to do without; no
        /// otherwise.
        public var requiresTLS: Bool?

        /// Makes TLS settings; what is left out is inherited.
        public init(
            caFile: String? = nil, clientCertificate: String? = nil, clientKey: String? = nil,
            clientKeyPassword: String? = nil, pinnedKeys: [String]? = nil, minimumVersion: Version? = nil,
            insecureAcceptAnyCertificate: Bool? = nil, insecureAcceptAnyHostName: Bool? = nil,
            requiresTLS: Bool? = nil
        ) {
            self.caFile = caFile
            self.clientCertificate = clientCertificate
            self.clientKey = clientKey
            self.clientKeyPassword = clientKeyPassword
            self.pinnedKeys = pinnedKeys
            self.minimumVersion = minimumVersion
            self.insecureAcceptAnyCertificate = insecureAcceptAnyCertificate
            self.insecureAcceptAnyHostName = insecureAcceptAnyHostName
            self.requiresTLS = requiresTLS
        }
    }

    /// Whether and which proxy to use.
    public enum Proxy: Sendable, Hashable {
        /// None, whatever the environment says. The library's.
        case direct
        /// An `http://`, `https://`, `socks5://` or `socks5h://` URL. `bypass` are hosts reached without it: a name, which
        /// stands for those below it too (`corp.test`, `.corp.test` and `*.corp.test` are the same), an address, a range of
        /// IPv4 addresses (`10.0.0.0/8`), or `*` for all. Anything else, as one with a port, fails the request with
        /// ``ErrandError/invalidOption`` (CURLOPT_NOPROXY). A proxy that
        /// wants to know who asks gets it from the URL: `http://user:password@proxy:3128`, both percent-encoded; they go
        /// to the proxy alone (CURLOPT_PROXY).
        case url(String, bypass: [String] = [])
        /// `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, read once. What could not stand in `bypass` is passed
        /// over in `no_proxy`.
        case environment
    }

    /// The library's: automatic.
    public var httpVersion: HTTPVersionPolicy?
    /// Sent as `Accept-Encoding`; bodies arrive decoded, and ``Limits/decodedBytes`` bounds them. The library's:
    /// ``Encodings/all``; `[]`: none is asked for, and nothing is decoded.
    ///
    /// The library's is `[]` for a request that has a field `Accept-Encoding` of its own or of the client's, whose body is
    /// then as it was sent, for a ``Download`` without ``Download/acceptsEncodings``, and for a request whose own body is made
    /// while it is sent, see ``ResponseBodyStream``. With a field `Range` it is
    /// `Accept-Encoding: identity`, as browsers send it: a range of an encoded body cannot be decoded. What is said here
    /// counts for these, too.
    public var encodings: Encodings?
    /// Inherited member by member. The library's: libcurl's authorities, TLS 1.2 or later.
    public var tls: TLS
    /// The library's: ``Proxy/direct``.
    public var proxy: Proxy?
    /// `host:port:address[,address]` each: connect there instead of asking DNS; SNI and `Host` stay the host's. The list
    /// is inherited as a whole; the library's is empty (CURLOPT_RESOLVE).
    public var resolveOverrides: [String]?
    /// Connect to this socket instead of the URL's host; empty, the library's: none (CURLOPT_UNIX_SOCKET_PATH). It stands
    /// for the network: whatever the host is, that of a redirect included, the request goes there.
    public var unixSocketPath: String?
    /// Address to connect from, or the name of an interface that is there; a host name or anything else is
    /// ``ErrandError/invalidOption``. Empty, the library's: the system's choice (CURLOPT_INTERFACE).
    public var localInterface: String?
    /// Seconds until the first TCP keep-alive probe, and between probes; at most 86,400. 0, the library's: none.
    public var tcpKeepaliveSeconds: UInt32?
    /// A kept connection idle for longer, at most 86,400, is not used again. The library's, and 0: 50 s, below the 60 and
    /// 75 s at which common servers close.
    public var idleConnectionSeconds: UInt32?

    /// Makes options; what is left out is inherited.
    public init(
        httpVersion: HTTPVersionPolicy? = nil, encodings: Encodings? = nil, tls: TLS = TLS(), proxy: Proxy? = nil,
        resolveOverrides: [String]? = nil, unixSocketPath: String? = nil, localInterface: String? = nil,
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
