/// How to reach a server: HTTP version, TLS, proxy, addresses.
///
/// A member that is `nil` is inherited: an override inherits from the command, a command from the client, and the
/// client from the library. So a command that only sets gzip keeps the client's proxy, authorities and pins. To undo an
/// inherited member, set it to the library's default: ``Setting/libraryDefault`` for a text or a number, an empty list,
/// ``Proxy/direct``. An empty text and the number 0 are no values: they are ``ErrandError/invalidOption``.
///
/// Requests with equal options share connections. The engine makes one object per distinct value and keeps it, so use a
/// few values, not one per request. A value that cannot be used (an unreadable file, a feature that this libcurl was
/// built without) fails the request with the engine's own error before any socket is opened.
public struct ConnectionOptions: Sendable, Hashable {
    /// The HTTP version to use.
    public enum HTTPVersionPolicy: Sendable, Hashable {
        /// HTTP/1.1 with a libcurl older than 8.2, whose HTTP/2 may report a truncated body as complete. From 8.2 on:
        /// HTTP/2 if TLS negotiates it.
        case automatic
        /// HTTP/1.1 only.
        case http1
        /// HTTP/2 if TLS negotiates it, HTTP/1.1 otherwise.
        case http2OverTLS
        /// HTTP/2 without negotiation. In clear text, before libcurl 8.0, each request has its own connection, because
        /// such a libcurl cannot reuse these connections.
        case http2PriorKnowledge
    }

    /// Content encodings to request and to decode on the way (RFC 9110 8.4). If any is set, every coding that the C
    /// core supports is decoded, also several applied one after the other. A body whose coding is unknown, malformed or
    /// truncated is ``ErrandError/contentDecodingFailed``.
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
        /// All of the above that the C core was built with.
        public static let all: Encodings = [.gzip, .deflate, .brotli, .zstd]
    }

    /// TLS settings.
    public struct TLS: Sendable, Hashable {
        /// The lowest version to accept.
        public enum Version: Sendable, Hashable {
            /// TLS 1.2, the default.
            case v1_2
            /// TLS 1.3.
            case v1_3
        }

        /// Whether the keys of connections are written to a file, with which a network analyser such as Wireshark decrypts
        /// recorded traffic. Whoever has the file can read everything that was sent.
        public enum KeyLog: Sendable, Hashable {
            /// No key is written, whatever the environment says. This cannot be guaranteed if the environment variable
            /// `SSLKEYLOGFILE` was set when the engine started and libcurl does not use the process's OpenSSL: then every
            /// request fails with ``ErrandError/unsupportedFeature``. An OpenSSL from 3.5 on that was built with the option
            /// `enable-sslkeylog`, which is off by default, obeys the variable all the same.
            case off
            /// Keys are written to the file that `SSLKEYLOGFILE` names. libcurl opens the file when the process first uses
            /// it. Without the variable nothing is written. Such requests have separate connections.
            case environment
        }

        /// PEM file of trusted authorities. The library's default: libcurl's own bundle (CURLOPT_CAINFO).
        public var caFile: Setting<String>?
        /// PEM file of the authorities for an HTTPS proxy (`https://proxy:3128`). The library's default: libcurl's own
        /// bundle. ``caFile`` and the other members apply to servers only, never to the proxy (CURLOPT_PROXY_CAINFO).
        public var proxyCAFile: Setting<String>?
        /// PEM file of the client's certificate. Key and password belong to the certificate: if a certificate is set
        /// here, neither is inherited. The library's default: none (CURLOPT_SSLCERT).
        public var clientCertificate: Setting<String>?
        /// PEM file of the client's key. The library's default: the certificate's file (CURLOPT_SSLKEY).
        public var clientKey: Setting<String>?
        /// Password of the client's key. The library's default: none (CURLOPT_KEYPASSWD).
        public var clientKeyPassword: Setting<String>?
        /// Base64 of SHA-256 of public keys, with or without the prefix `sha256//`. One match is enough; without a
        /// match the request ends with ``ErrandError/tlsPinMismatch``. The library's default: an empty list, no pinning
        /// (CURLOPT_PINNEDPUBLICKEY).
        public var pinnedKeys: [String]?
        /// The library's default: 1.2.
        public var minimumVersion: Version?
        /// Accepts any certificate. The connection is then not protected; for tests only. The library's default: no.
        public var insecureAcceptAnyCertificate: Bool?
        /// Accepts a certificate for any host. The connection is then not protected; for tests only. The library's
        /// default: no.
        public var insecureAcceptAnyHostName: Bool?
        /// Whether a request in clear text (`http://`) is refused with ``ErrandError/unsupportedScheme`` before any
        /// socket is opened. If no level sets it, such a request is refused if these settings, including inherited ones,
        /// pin keys, or if an entry of ``TLSPolicies`` names a client certificate: such an entry shows that the host is
        /// expected to use TLS. Otherwise it is not refused.
        public var requiresTLS: Bool?
        /// The library's default: ``KeyLog/off``. `SSLKEYLOGFILE` alone, which libcurl would obey, has no effect.
        public var keyLog: KeyLog?

        /// Makes TLS settings with these values; members that are left out are inherited.
        public init(
            caFile: String? = nil, clientCertificate: String? = nil, clientKey: String? = nil,
            clientKeyPassword: String? = nil, pinnedKeys: [String]? = nil, minimumVersion: Version? = nil,
            insecureAcceptAnyCertificate: Bool? = nil, insecureAcceptAnyHostName: Bool? = nil,
            requiresTLS: Bool? = nil
        ) {
            self.caFile = caFile.map { .value($0) }
            self.clientCertificate = clientCertificate.map { .value($0) }
            self.clientKey = clientKey.map { .value($0) }
            self.clientKeyPassword = clientKeyPassword.map { .value($0) }
            self.pinnedKeys = pinnedKeys
            self.minimumVersion = minimumVersion
            self.insecureAcceptAnyCertificate = insecureAcceptAnyCertificate
            self.insecureAcceptAnyHostName = insecureAcceptAnyHostName
            self.requiresTLS = requiresTLS
        }
    }

    /// Whether to use a proxy, and which one.
    public enum Proxy: Sendable, Hashable {
        /// No proxy, whatever the environment says. The library's default.
        case direct
        /// An `http://`, `https://`, `socks5://` or `socks5h://` URL. Credentials for the proxy are part of the URL,
        /// percent-encoded: `http://user:password@proxy:3128`. They are sent to the proxy only (CURLOPT_PROXY).
        /// With `socks5h://` the proxy looks up host names. It does so with `socks5://` too in a client with an address
        /// guard, because the guard would not see the addresses; otherwise names are looked up here.
        ///
        /// `bypass` lists the hosts that are reached without the proxy (CURLOPT_NOPROXY): a name, which includes all
        /// names below it (`corp.test`, `.corp.test` and `*.corp.test` are the same), an address, a range of IPv4
        /// addresses (`10.0.0.0/8`), or `*` for all. Any other entry, such as one with a port, fails the request with
        /// ``ErrandError/invalidOption``.
        case url(String, bypass: [String] = [])
        /// `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, read once. Entries of `no_proxy` that `bypass`
        /// would refuse are ignored.
        case environment
    }

    /// The library's default: automatic.
    public var httpVersion: HTTPVersionPolicy?
    /// Sent as `Accept-Encoding`. Bodies arrive decoded, and ``Limits/decodedBytes`` bounds them. The library's
    /// default: ``Encodings/all``. `[]`: no encoding is requested, and nothing is decoded.
    ///
    /// The library's default is `[]` in three cases: the request or the client has its own `Accept-Encoding` field (the
    /// body then arrives as it was sent); a ``Download`` without ``Download/acceptsEncodings``; and a request whose own
    /// body is made while it is sent, see ``ResponseBodyStream``. With a `Range` field the default is
    /// `Accept-Encoding: identity`, as browsers send it, because a range of an encoded body cannot be decoded. A value
    /// that is set here applies in these cases, too.
    public var encodings: Encodings?
    /// Inherited member by member. The library's default: libcurl's authorities, TLS 1.2 or later.
    public var tls: TLS
    /// The library's default: ``Proxy/direct``.
    public var proxy: Proxy?
    /// Entries `host:port:address[,address]`: the engine connects there instead of asking DNS; SNI and `Host` stay
    /// those of the host. The list is inherited as a whole. The library's default: an empty list (CURLOPT_RESOLVE).
    public var resolveOverrides: [String]?
    /// `host:port` to connect to instead of the URL's host and port; the certificate is that of the URL's host
    /// (CURLOPT_CONNECT_TO). Set for one transfer by alternative services.
    package var connectTo: String?
    /// Connect to this Unix socket instead of the URL's host. The library's default: none (CURLOPT_UNIX_SOCKET_PATH).
    /// The socket replaces the network: the request goes there whatever the host is, also after a redirect to another
    /// host.
    public var unixSocketPath: Setting<String>?
    /// The address to connect from, or the name of an existing interface. A host name or any other text is
    /// ``ErrandError/invalidOption``. The library's default: the system's choice (CURLOPT_INTERFACE).
    public var localInterface: Setting<String>?
    /// Seconds until the first TCP keep-alive probe, and between probes, 1...86,400. The library's default: no probes.
    public var tcpKeepaliveSeconds: Setting<UInt32>?
    /// Seconds after which an idle connection is no longer reused, 1...86,400. The library's default: 50 s, below the 60
    /// and 75 s after which common servers close.
    public var idleConnectionSeconds: Setting<UInt32>?

    /// Makes options with these values; members that are left out are inherited.
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
        self.unixSocketPath = unixSocketPath.map { .value($0) }
        self.localInterface = localInterface.map { .value($0) }
        self.tcpKeepaliveSeconds = tcpKeepaliveSeconds.map { .value($0) }
        self.idleConnectionSeconds = idleConnectionSeconds.map { .value($0) }
    }
}
