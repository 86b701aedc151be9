public import FoundationEssentials
public import HTTPTypes

/// A complete description of one transfer, as a transport sends it. It is made once from a command and the client's
/// defaults and does not change afterwards; a redirect policy may alter its own copy.
public struct RequestDescription: Sendable {
    /// The body of the request.
    public enum Body: Sendable {
        /// No body.
        case none
        /// These bytes.
        case bytes([UInt8])
        /// These bytes.
        case data(Data)
        /// `length` bytes (`nil`: to the end) of a regular file from `offset`.
        case file(path: String, offset: UInt64, length: Int64?)
        /// The bytes that the receiver writes (``Transport/write(_:to:)``): `length` bytes, `nil` where it is not
        /// known. This body cannot be sent again.
        case stream(length: Int64?)
        /// The bytes of a source, read while the request is sent.
        // Indirect: an existential in place would make every copy of a description go through its value witnesses.
        indirect case source(any RequestBodySource)
    }

    /// How the response's body is delivered.
    public enum Delivery: Sendable {
        /// As a whole, with the end of the transfer.
        case buffered
        /// As ``TransferEvent/Kind/head(_:)`` and chunks, within the credit of ``Transport/grant(_:bytes:)``.
        case streamed
    }

    /// The events to report during the transfer. The default is none, which costs nothing.
    public struct Reports: OptionSet, Sendable, Hashable {
        /// The bits.
        public let rawValue: UInt8
        /// Makes a set from its bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// ``TransferEvent/Kind/started``, ``TransferEvent/Kind/sent`` and the head of a buffered response.
        public static let events = Reports(rawValue: 1)
        /// ``TransferEvent/Kind/progress(_:)``.
        public static let progress = Reports(rawValue: 2)
    }

    /// The method.
    public var method: HTTPRequest.Method
    /// Absolute, `http` or `https`, percent-encoded.
    public var url: String
    /// The whole header block, defaults and `Content-Type` included.
    public var headers: HeaderBlock
    /// The body.
    public var body: Body
    /// Rarely used switches.
    public var options: CommandOptions
    /// Default: buffered.
    public package(set) var delivery = Delivery.buffered
    /// Default: none.
    public package(set) var reports: Reports = []
    /// How often the engine asked for the body again and got it; see `AnyRequest.sendAgain`.
    package var resends: UInt8 = 0
    /// Credentials for the server, in a scheme that needs a challenge. Default: none.
    public var authentication: ServerAuthentication? {
        get { rare?.members.authentication }
        set { changeRare { $0.authentication = newValue } }
    }
    /// How the transfer uses the client's cache. `nil`: not at all.
    package var cachePlan: (any CachePlan)? {
        get { rare?.members.cachePlan }
        set { changeRare { $0.cachePlan = newValue } }
    }
    /// When the transfer of a cached request is sent that other requests may join. `nil`: not known.
    package var sendingMoment: SendingMoment? {
        get { rare?.members.moment }
        set { changeRare { $0.moment = newValue } }
    }
    /// How the client's resilience treats the request. `nil`: by the client's settings.
    package var resilience: RequestResilience? {
        get { rare?.members.resilience }
        set { changeRare { $0.resilience = newValue } }
    }
    /// What the attempts of one transfer share. `nil`: there is one attempt, or the attempts share nothing.
    package var trail: AttemptTrail? {
        get { rare?.members.trail }
        set { changeRare { $0.trail = newValue } }
    }
    /// Whether the address of the connection was chosen among endpoints.
    package var hasEndpointAddress: Bool {
        get { rare?.members.hasEndpointAddress ?? false }
        set { changeRare { $0.hasEndpointAddress = newValue } }
    }
    /// Fields that must not be sent to another origin, whatever their names: a redirect to another origin drops them,
    /// as it drops ``Redaction/secretHeaders``. The fields that an interceptor's `prepare` adds or alters are added
    /// here when it returns, including those of an authenticator. Remove a name, in ``RedirectPolicy/decide``, to keep
    /// its field; insert one to bind it. Default: none.
    public var originBoundFields: Set<HTTPField.Name> {
        get { rare?.members.originBoundFields ?? [] }
        set { changeRare { $0.originBoundFields = newValue } }
    }

    /// Members that few requests use.
    private struct RareMembers: Sendable {
        var authentication: ServerAuthentication?
        var cachePlan: (any CachePlan)?
        var moment: SendingMoment?
        var resilience: RequestResilience?
        var trail: AttemptTrail?
        var hasEndpointAddress = false
        var originBoundFields: Set<HTTPField.Name> = []

        var isEmpty: Bool {
            authentication == nil && cachePlan == nil && moment == nil && resilience == nil && trail == nil
                && !hasEndpointAddress
                && originBoundFields.isEmpty
        }
    }

    /// Keeps the rare members in an object, so that other requests do not carry them.
    private final class Rare: Sendable {
        let members: RareMembers

        init(_ members: RareMembers) { self.members = members }
    }

    private mutating func changeRare(_ change: (inout RareMembers) -> Void) {
        var members = rare?.members ?? RareMembers()
        change(&members)
        rare = members.isEmpty ? nil : Rare(members)
    }

    private var rare: Rare?

    /// Timeouts, limits, priority and connection options.
    public package(set) var settings: TransferSettings

    package init(
        method: HTTPRequest.Method, url: String, headers: HeaderBlock, body: Body, options: CommandOptions,
        settings: TransferSettings
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.options = options
        self.settings = settings
    }

    /// The body's bytes where they are in memory; empty otherwise.
    public var bodyBytes: [UInt8] {
        switch body {
        case .none, .file, .stream, .source: []
        case .bytes(let bytes): bytes
        case .data(let data): Array(data)
        }
    }
}

/// The part of a description that most requests of a client share; checked and converted once.
public final class TransferSettings: Sendable {
    /// After inheritance: `nil` is no limit here.
    public let timeouts: Timeouts
    /// After inheritance: `nil` is the engine's default here.
    public let limits: Limits
    /// After inheritance.
    public let priority: Priority
    /// After inheritance: a `nil` member is the library's default here. `nil`: the options of the client's
    /// configuration.
    public let connection: ConnectionOptions?

    /// Whether ``connection`` is not `nil`. Reading this copies no options.
    package let hasConnection: Bool
    /// Whether a request of these settings must end by some time.
    package var hasTotalTimeout: Bool { totalTimeout > 0 }
    /// Whether clear text is refused.
    package let requiresTLS: Bool
    /// The TLS settings of the request itself; `nil`: none.
    package let ownTLS: ConnectionOptions.TLS?

    /// In milliseconds, 0 for none.
    package let queueTimeout, connectTimeout, firstByteTimeout, idleTimeout, totalTimeout: Int64
    /// 0 for the engine's default.
    package let headerBytes, headerCount, bodyBytes, decodedBytes: Int64

    /// Takes settings after inheritance. Throws ``ErrandError/invalidLimit``.
    package init(
        timeouts: Timeouts, limits: Limits, priority: Priority, connection: ConnectionOptions?,
        requiresTLS: Bool = false, ownTLS: ConnectionOptions.TLS? = nil
    ) throws(ErrandError) {
        self.requiresTLS = requiresTLS
        self.ownTLS = ownTLS
        self.timeouts = timeouts
        self.limits = limits
        self.priority = priority
        self.connection = connection
        hasConnection = connection != nil
        queueTimeout = try Timeouts.milliseconds(timeouts.queue, "queue")
        connectTimeout = try Timeouts.milliseconds(timeouts.connect, "connect")
        firstByteTimeout = try Timeouts.milliseconds(timeouts.firstByte, "firstByte")
        idleTimeout = try Timeouts.milliseconds(timeouts.idle, "idle")
        totalTimeout = try Timeouts.milliseconds(timeouts.total, "total")
        headerBytes = try Limits.count(limits.headerBytes, "headerBytes")
        headerCount = try Limits.count(limits.headerCount, "headerCount")
        bodyBytes = try Limits.count(limits.bodyBytes, "bodyBytes")
        decodedBytes = try Limits.count(limits.decodedBytes, "decodedBytes")
    }

    private init(
        _ other: TransferSettings, connection: ConnectionOptions?, requiresTLS: Bool, ownTLS: ConnectionOptions.TLS?
    ) {
        timeouts = other.timeouts
        limits = other.limits
        priority = other.priority
        self.connection = connection
        hasConnection = connection != nil
        self.requiresTLS = requiresTLS
        self.ownTLS = ownTLS
        queueTimeout = other.queueTimeout
        connectTimeout = other.connectTimeout
        firstByteTimeout = other.firstByteTimeout
        idleTimeout = other.idleTimeout
        totalTimeout = other.totalTimeout
        headerBytes = other.headerBytes
        headerCount = other.headerCount
        bodyBytes = other.bodyBytes
        decodedBytes = other.decodedBytes
    }
}

extension TransferSettings {
    /// The same settings with another total timeout.
    package func with(total: Duration?) throws(ErrandError) -> TransferSettings {
        var timeouts = timeouts
        timeouts.total = total.map { .after($0) }
        return try TransferSettings(
            timeouts: timeouts, limits: limits, priority: priority, connection: connection, requiresTLS: requiresTLS,
            ownTLS: ownTLS)
    }

    /// The same settings with other options, for an entry of the TLS policies or an alternative service.
    package func with(connection: ConnectionOptions?, requiresTLS: Bool) -> TransferSettings {
        TransferSettings(self, connection: connection, requiresTLS: requiresTLS, ownTLS: ownTLS)
    }

    /// The same settings with other TLS settings, which are after inheritance; `engine` is used where there are no
    /// options.
    package func with(tls: ConnectionOptions.TLS, engine: ConnectionOptions) -> TransferSettings {
        var connection = connection ?? engine
        connection.tls = tls.resolved
        let options = connection == engine ? nil : connection
        guard options != self.connection || tls.demandsTLS != requiresTLS else { return self }
        return with(connection: options, requiresTLS: tls.demandsTLS)
    }

    /// The same settings; limits of the body that are not set are lifted.
    package func unlimited() throws(ErrandError) -> TransferSettings {
        guard limits.bodyBytes == nil || limits.decodedBytes == nil else { return self }
        var limits = limits
        limits.bodyBytes = limits.bodyBytes ?? Limits.maximum
        limits.decodedBytes = limits.decodedBytes ?? Limits.maximum
        return try TransferSettings(
            timeouts: timeouts, limits: limits, priority: priority, connection: connection, requiresTLS: requiresTLS,
            ownTLS: ownTLS)
    }

    /// The same settings; connections to the host and port `name` (`host:port:`) go by this entry of
    /// ``ConnectionOptions/resolveOverrides``. `clientDefault` is used where there are no options.
    package func with(
        resolving entry: String, of name: String, clientDefault: ConnectionOptions
    ) -> TransferSettings {
        var connection = connection ?? clientDefault
        let others = (connection.resolveOverrides ?? []).filter { !$0.hasPrefix(name) }
        connection.resolveOverrides = others + [entry]
        return TransferSettings(self, connection: connection, requiresTLS: requiresTLS, ownTLS: ownTLS)
    }

    /// The same settings without a TLS client certificate, which identifies the client; `clientDefault` is used where
    /// there are no options.
    package func withoutClientIdentity(_ clientDefault: ConnectionOptions) -> TransferSettings {
        var connection = connection ?? clientDefault
        guard connection.tls.namesClient else { return self }
        connection.tls = connection.tls.withoutClient
        return TransferSettings(
            self, connection: connection, requiresTLS: requiresTLS,
            ownTLS: ownTLS.map { $0.namesClient ? $0.withoutClient : $0 })
    }
}

extension RequestDescription {
    /// Binds the fields that an interceptor has added to `fields`, or altered, to the origin of the request.
    package mutating func bindFields(addedTo fields: HeaderBlock) {
        guard headers != fields else { return }
        let former = fields.fields
        let added = headers.fields.filter { field in
            !former[fields: field.name].contains { $0.value == field.value }
        }
        if !added.isEmpty { originBoundFields.formUnion(added.map(\.name)) }
    }
}

extension RequestDescription.Body {
    /// Whether the body is read from a source while it is sent.
    package var isSource: Bool {
        if case .source = self { true } else { false }
    }

    /// Whether the body can be read a second time.
    public var isReplayable: Bool {
        switch self {
        case .none, .bytes, .data, .file: true
        case .stream: false
        case .source(let source): source.isReplayable
        }
    }
}
