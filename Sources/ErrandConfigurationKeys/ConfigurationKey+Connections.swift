extension ConfigurationKey {
    /// How servers are reached.
    static let connections: [ConfigurationKey] = [
        .init(
            "connection.httpVersion", .choice(["automatic", "http1", "http2OverTLS", "http2PriorKnowledge"]),
            "automatic", "The HTTP version."),
        .init(
            "connection.encodings", .list, "gzip, deflate, br, zstd",
            "The content encodings that are asked for and decoded; none: bodies arrive as they were sent.",
            orNone: true),
        .init(
            "connection.proxy", .text, "direct",
            "direct, environment, or the URL of a proxy, which may have a user and a password.", isSecret: true),
        .init(
            "connection.proxyBypass", .list, "none", "The hosts that are reached without the proxy of that URL.",
            orNone: true),
        .init(
            "connection.resolveOverrides", .list, "none",
            "Entries host:port:address that replace DNS; several addresses of a host need an array.",
            orNone: true),
        .init("connection.unixSocketPath", .text, "none", "The Unix socket to connect to.", orNone: true),
        .init(
            "connection.localInterface", .text, "none", "The address or the interface to connect from.",
            orNone: true),
        .init(
            "connection.tcpKeepalive", .duration, "none", "The time to the first TCP probe, in whole seconds.",
            in: 1...86_400, orNone: true),
        .init(
            "connection.idleTime", .duration, "50s",
            "How long an idle connection is kept for the next request, in whole seconds.", in: 1...86_400),
        .init("tls.caFile", .text, "none", "PEM file of trusted authorities; none: those of the system.", orNone: true),
        .init("tls.proxyCaFile", .text, "none", "The same for an https proxy.", orNone: true),
        .init("tls.clientCertificate", .text, "none", "PEM file of the client's certificate.", orNone: true),
        .init("tls.clientKey", .text, "none", "PEM file of its key; none: the certificate's file.", orNone: true),
        .init(
            "tls.clientKeyPassword", .text, "none", "The password of the key.", orNone: true, isSecret: true),
        .init(
            "tls.pinnedKeys", .list, "none", "Base64 of the SHA-256 of public keys, one of which must match.",
            orNone: true),
        .init("tls.minimumVersion", .choice(["1.2", "1.3"]), "1.2", "The lowest version of TLS."),
        .init(
            "tls.insecureAcceptAnyCertificate", .flag, "false",
            "Accepts any certificate. For tests only: the connection is not protected."),
        .init(
            "tls.insecureAcceptAnyHostName", .flag, "false",
            "Accepts a certificate for any host. For tests only: the connection is not protected."),
        .init("tls.requiresTLS", .flag, "false", "Whether http is refused; by default where keys are pinned."),
    ]

    /// The settings that a client is started with.
    static let start: [ConfigurationKey] = [
        .init("engine.name", .text, "none", "The engine that clients of this name share.", orNone: true),
        .init("engine.loops", .count, "one per usable core, at most 4", "The number of loop threads.", in: 1...64),
        .init("engine.queueCapacity", .count, "65536", "How many requests may wait for admission.", in: requestCount),
        .init(
            "engine.inFlightLimit", .count, "half of the open files, at most 4096",
            "How many requests may be in flight in total.", in: requestCount),
        .init(
            "engine.originInFlightLimit", .count, "256", "How many requests to one origin may be in flight.",
            in: requestCount),
        .init(
            "engine.maxConcurrentStreams", .count, "64, or 32 from libcurl 8.10 on",
            "How many HTTP/2 streams a connection may have.",
            in: requestCount),
        .init("cookies.storage", .choice(["off", "memory", "file"]), "off", "Where cookies are kept."),
        .init("cookies.file", .text, "none", "The file of cookies.", orNone: true),
        .init("reportsStops", .flag, "false", "Whether closures of stopped requests are called."),
        .init(
            "cache.memory.bytes", .bytes, "32MiB", "The size of the cache in memory.", in: 0...1_099_511_627_776),
        .init(
            "cache.memory.entries", .count, "10000", "The number of responses in the cache in memory.",
            in: 0...100_000_000),
        .init(
            "cache.memory.entryBytes", .bytes, "4MiB", "The largest response in the cache in memory.",
            in: 0...16_777_216),
        .init("cache.isShared", .flag, "false", "Whether the cache in memory serves more than one user (RFC 9111 1)."),
        .init("cache.namespace", .text, "not set", "Keeps the responses of the cache in memory apart from others."),
    ]

    /// 2^24.
    private static let requestCount: ClosedRange<Double> = 1...16_777_216
}
