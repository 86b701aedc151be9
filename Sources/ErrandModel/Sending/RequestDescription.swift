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
        /// These bytes, which stay where they are, such as those of a SwiftNIO buffer. They cannot be changed in place:
        /// an interceptor that changes the body sets another one.
        case shared(SharedBytes)
        /// `length` bytes (`nil`: to the end) of a regular file from `offset`.
        case file(path: String, offset: UInt64, length: Int64?)
        /// The bytes that the receiver writes (``Transport/write(_:to:)``): `length` bytes; `nil`: the length is not
        /// known. This body cannot be resent.
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
        /// ``TransferEvent/Kind/connected(_:)``.
        public static let connection = Reports(rawValue: 4)
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
    /// What the transfer is sent for.
    package var cause = SendCause.first
    /// What the transfer pays to the retry budget of its service.
    package var payment = SendPayment.deposit
    /// Credentials for the server, in a scheme that needs a challenge. Default: none.
    public var authentication: ServerAuthentication? {
        get { others?.members.authentication }
        set { changeRare { $0.authentication = newValue } }
    }
    /// How the transfer uses the client's cache. `nil`: not at all.
    package var cachePlan: (any CachePlan)? {
        get { others?.members.cachePlan }
        set { changeRare { $0.cachePlan = newValue } }
    }
    /// When the transfer of a cached request that other requests may join is sent. `nil`: not known.
    package var sendingMoment: SendingMoment? {
        get { others?.members.moment }
        set { changeRare { $0.moment = newValue } }
    }
    /// How the client's resilience treats the request. `nil`: as the client's settings say.
    package var resilience: RequestResilience? {
        get { others?.members.resilience }
        set { changeRare { $0.resilience = newValue } }
    }
    /// State that the attempts of one transfer share. `nil`: there is one attempt, or the attempts share nothing.
    package var trail: AttemptTrail? {
        get { others?.members.trail }
        set { changeRare { $0.trail = newValue } }
    }
    /// State that the attempts of the run share, for observers of attempts. `nil`: there are no observers.
    package var attemptScope: AttemptScope? {
        get { (rare as? AttemptScope) ?? others?.members.attemptScope }
        set {
            guard others == nil else { return changeRare { $0.attemptScope = newValue } }
            rare = newValue
        }
    }
    /// Whether the address of the connection was chosen among endpoints.
    package var hasEndpointAddress: Bool {
        get { others?.members.hasEndpointAddress ?? false }
        set { changeRare { $0.hasEndpointAddress = newValue } }
    }
    /// Whether a redirect or an interceptor has led the run to another origin than that of its first request. Stays set
    /// even if a later redirect leads back, because the other origin chose that URL.
    package var hasLeftOrigin: Bool {
        get { others?.members.hasLeftOrigin ?? false }
        set { changeRare { $0.hasLeftOrigin = newValue } }
    }
    /// Fields that must not be sent to another origin, whatever their names. A redirect to another origin drops them, as
    /// it drops ``Redaction/secretHeaders``, and so does an interceptor that sets a URL of another origin. The names of the
    /// fields that an interceptor adds or alters are added here when it passes the request on, including those of an
    /// authenticator. In ``RedirectPolicy/decide``, remove a name to keep its field, or insert a name to bind its field.
    /// Default: none.
    public var originBoundFields: Set<HTTPField.Name> {
        get { others?.members.originBoundFields ?? [] }
        set { changeRare { $0.originBoundFields = newValue } }
    }

    /// Whether one of the members from ``authentication`` on is set. One check instead of several for requests that use
    /// none of them.
    package var hasRareMembers: Bool { rare != nil }

    /// Whether one of these members is set, other than the scope.
    package var hasRareMembersBesideScope: Bool { rare != nil && others != nil }

    /// The key under which the parts of a client's resilience keep their state for the request: the name that the command
    /// gives, or else the origin.
    package var service: String { resilience?.choice?.name ?? URLReference(url).origin }

    /// Members that few requests use.
    private struct RareMembers: Sendable {
        var authentication: ServerAuthentication?
        var cachePlan: (any CachePlan)?
        var moment: SendingMoment?
        var resilience: RequestResilience?
        var trail: AttemptTrail?
        var attemptScope: AttemptScope?
        var hasEndpointAddress = false
        var hasLeftOrigin = false
        var originBoundFields: Set<HTTPField.Name> = []

        /// Whether there is at most a scope, which needs no object for the others.
        var hasAtMostScope: Bool {
            authentication == nil && cachePlan == nil && moment == nil && resilience == nil && trail == nil
                && !hasEndpointAddress && !hasLeftOrigin && originBoundFields.isEmpty
        }
    }

    /// Keeps the rare members in an object, so that other requests do not carry them.
    ///
    /// `@unchecked Sendable`: its only member is constant and `Sendable`.
    private final class Rare: DescriptionExtra, @unchecked Sendable {
        let members: RareMembers

        init(_ members: RareMembers) {
            self.members = members
            super.init()
        }
    }

    private mutating func changeRare(_ change: (inout RareMembers) -> Void) {
        var members = others?.members ?? RareMembers(attemptScope: rare as? AttemptScope)
        change(&members)
        if members.hasAtMostScope { rare = members.attemptScope } else { rare = Rare(members) }
    }

    /// A `Rare`, or the scope alone; `nil`: none of the rare members is set.
    private var rare: DescriptionExtra?
    private var others: Rare? { rare as? Rare }

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

    /// The body's bytes if they are in memory; empty otherwise.
    public var bodyBytes: [UInt8] {
        switch body {
        case .none, .file, .stream, .source: []
        case .bytes(let bytes): bytes
        case .data(let data): Array(data)
        case .shared(let bytes): bytes.copy()
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
    /// Whether a request with these settings has a total timeout.
    package var hasTotalTimeout: Bool { totalTimeout > 0 }
    /// Whether clear text is refused.
    package let requiresTLS: Bool
    /// The TLS settings of the request itself; `nil`: none.
    package let ownTLS: ConnectionOptions.TLS?
    /// Whether the total timeout is the time that the caller's task has left, and not the request's own timeout. A
    /// transfer that exceeds it says nothing about the server.
    package let isCutShort: Bool

    /// In milliseconds, 0 for none.
    package let queueTimeout, connectTimeout, firstByteTimeout, idleTimeout, totalTimeout: Int64
    /// 0 for the engine's default.
    package let headerBytes, headerCount, bodyBytes, decodedBytes: Int64

    /// Takes settings after inheritance. Throws ``ErrandError/invalidLimit``.
    package init(
        timeouts: Timeouts, limits: Limits, priority: Priority, connection: ConnectionOptions?,
        requiresTLS: Bool = false, ownTLS: ConnectionOptions.TLS? = nil, isCutShort: Bool = false
    ) throws(ErrandError) {
        self.requiresTLS = requiresTLS
        self.ownTLS = ownTLS
        self.isCutShort = isCutShort
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
        isCutShort = other.isCutShort
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
    /// The same settings with another total timeout. `isCutShort`: see the member; `nil`, the default: unchanged.
    package func with(total: Duration?, isCutShort: Bool? = nil) throws(ErrandError) -> TransferSettings {
        var timeouts = timeouts
        timeouts.total = total.map { .after($0) }
        return try TransferSettings(
            timeouts: timeouts, limits: limits, priority: priority, connection: connection, requiresTLS: requiresTLS,
            ownTLS: ownTLS, isCutShort: total != nil && isCutShort ?? self.isCutShort)
    }

    /// The same settings with other options, for an entry of the TLS policies, an alternative service or an endpoint.
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
            ownTLS: ownTLS, isCutShort: isCutShort)
    }

    /// The same settings; connections to the host and port `name` (`host:port:`) use this entry of
    /// ``ConnectionOptions/resolveOverrides``. `clientDefault` is used if there are no options.
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
        case .none, .bytes, .data, .shared, .file: true
        case .stream: false
        case .source(let source): source.isReplayable
        }
    }
}
