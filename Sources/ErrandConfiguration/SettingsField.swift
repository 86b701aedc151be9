import Errand

/// A setting that a client can change while it runs, and the keys that it is read from.
struct SettingsField: Sendable {
    let keys: [String]
    let copy: @Sendable (Client.Settings, inout Client.Settings) -> Void

    init(_ keys: String..., copy: @escaping @Sendable (Client.Settings, inout Client.Settings) -> Void) {
        self.keys = keys
        self.copy = copy
    }

    /// One member of a set of options.
    init(option: CommandOptions, _ key: String) {
        self.init(key) { next, settings in
            let isOn = next.options.contains(option)
            if isOn { settings.options.insert(option) } else { settings.options.remove(option) }
        }
    }

    func isRead(from key: String) -> Bool { keys.contains(key) }

    /// Only these fields are copied. Other settings of the program stay, such as filters, coders and a `decide`
    /// closure. Several keys of one field make up one value, such as a user name and a password.
    static let all: [SettingsField] = requests + timesAndLimits + connections

    private static let requests: [SettingsField] = [
        SettingsField("baseURL") { $1.baseURL = $0.baseURL },
        SettingsField("cdnURL") { $1.cdnURL = $0.cdnURL },
        SettingsField("pathJoining") { $1.pathJoining = $0.pathJoining },
        SettingsField("filtersAbsoluteURLs") { $1.filtersAbsoluteURLs = $0.filtersAbsoluteURLs },
        SettingsField("headers") { $1.headers = $0.headers },
        SettingsField("userAgent") { $1.userAgent = $0.userAgent },
        SettingsField("languages") { $1.languages = $0.languages },
        SettingsField(
            "authorization.scheme", "authorization.username", "authorization.password", "authorization.token"
        ) { $1.authorization = $0.authorization },
        SettingsField("authorization.anyOrigin") { $1.authorizesAnyOrigin = $0.authorizesAnyOrigin },
        SettingsField("query.arrays") { $1.queryStyle.arrays = $0.queryStyle.arrays },
        SettingsField("query.nesting") { $1.queryStyle.nesting = $0.queryStyle.nesting },
        SettingsField("query.booleans") { $1.queryStyle.booleans = $0.queryStyle.booleans },
        SettingsField("query.spaces") { $1.queryStyle.spaces = $0.queryStyle.spaces },
        SettingsField("query.nulls") { $1.queryStyle.nulls = $0.queryStyle.nulls },
        SettingsField("query.sortsNames") { $1.queryStyle.sortsNames = $0.queryStyle.sortsNames },
        SettingsField("accept.statusCodes") { $1.acceptedStatusCodes = $0.acceptedStatusCodes },
        SettingsField("accept.contentTypes") { $1.acceptedContentTypes = $0.acceptedContentTypes },
        SettingsField(option: .freshConnection, "options.freshConnection"),
        SettingsField(option: .allowReplay, "options.allowReplay"),
        SettingsField(option: .withoutCookies, "options.withoutCookies"),
        SettingsField("redirects.limit") { $1.redirects.limit = $0.redirects.limit },
        SettingsField("redirects.allowsDowngrade") { $1.redirects.allowsDowngrade = $0.redirects.allowsDowngrade },
        SettingsField("cache.policy", "cache.timeToLive", "cache.version", "cache.reading") { $1.cache = $0.cache },
    ]

    private static let timesAndLimits: [SettingsField] = [
        SettingsField("timeouts.queue") { $1.timeouts.queue = $0.timeouts.queue },
        SettingsField("timeouts.connect") { $1.timeouts.connect = $0.timeouts.connect },
        SettingsField("timeouts.firstByte") { $1.timeouts.firstByte = $0.timeouts.firstByte },
        SettingsField("timeouts.idle") { $1.timeouts.idle = $0.timeouts.idle },
        SettingsField("timeouts.total") { $1.timeouts.total = $0.timeouts.total },
        SettingsField("limits.headerBytes") { $1.limits.headerBytes = $0.limits.headerBytes },
        SettingsField("limits.headerCount") { $1.limits.headerCount = $0.limits.headerCount },
        SettingsField("limits.bodyBytes") { $1.limits.bodyBytes = $0.limits.bodyBytes },
        SettingsField("limits.decodedBytes") { $1.limits.decodedBytes = $0.limits.decodedBytes },
    ]

    private static let connections: [SettingsField] = [
        SettingsField("connection.httpVersion") { $1.connection.httpVersion = $0.connection.httpVersion },
        SettingsField("connection.encodings") { $1.connection.encodings = $0.connection.encodings },
        SettingsField("connection.proxy", "connection.proxyBypass") { $1.connection.proxy = $0.connection.proxy },
        SettingsField(
            "connection.resolveOverrides"
        ) { $1.connection.resolveOverrides = $0.connection.resolveOverrides },
        SettingsField("connection.unixSocketPath") { $1.connection.unixSocketPath = $0.connection.unixSocketPath },
        SettingsField("connection.localInterface") { $1.connection.localInterface = $0.connection.localInterface },
        SettingsField(
            "connection.tcpKeepalive"
        ) { $1.connection.tcpKeepaliveSeconds = $0.connection.tcpKeepaliveSeconds },
        SettingsField(
            "connection.idleTime"
        ) { $1.connection.idleConnectionSeconds = $0.connection.idleConnectionSeconds },
        SettingsField("tls.caFile") { $1.connection.tls.caFile = $0.connection.tls.caFile },
        SettingsField("tls.proxyCaFile") { $1.connection.tls.proxyCAFile = $0.connection.tls.proxyCAFile },
        SettingsField(
            "tls.clientCertificate"
        ) { $1.connection.tls.clientCertificate = $0.connection.tls.clientCertificate },
        SettingsField("tls.clientKey") { $1.connection.tls.clientKey = $0.connection.tls.clientKey },
        SettingsField(
            "tls.clientKeyPassword"
        ) { $1.connection.tls.clientKeyPassword = $0.connection.tls.clientKeyPassword },
        SettingsField("tls.pinnedKeys") { $1.connection.tls.pinnedKeys = $0.connection.tls.pinnedKeys },
        SettingsField("tls.minimumVersion") { $1.connection.tls.minimumVersion = $0.connection.tls.minimumVersion },
        SettingsField(
            "tls.insecureAcceptAnyCertificate"
        ) { $1.connection.tls.insecureAcceptAnyCertificate = $0.connection.tls.insecureAcceptAnyCertificate },
        SettingsField(
            "tls.insecureAcceptAnyHostName"
        ) { $1.connection.tls.insecureAcceptAnyHostName = $0.connection.tls.insecureAcceptAnyHostName },
        SettingsField("tls.requiresTLS") { $1.connection.tls.requiresTLS = $0.connection.tls.requiresTLS },
    ]
}
