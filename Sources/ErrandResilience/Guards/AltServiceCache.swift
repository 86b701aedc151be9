import Synchronization

/// The alternative services that origins have announced (RFC 7838), in memory and bounded. Any thread.
///
/// With ``Client/Configuration/altServices`` a client uses the cache. The cache itself only remembers. If you use an
/// alternative by other means, check the certificate for the host of the origin, and judge the alternative's address by
/// an ``AddressGuard``.
public final class AltServiceCache: Sendable {
    /// What the clients that use the cache have done so far.
    public struct Counts: Sendable, Hashable {
        /// The attempts that were to go to an alternative.
        public internal(set) var chosen = 0
        /// Those among them that went to the origin, because the alternative could not be used.
        public internal(set) var left = 0
    }

    private let table: Mutex<AltServiceTable>
    private let stopwatch: Stopwatch
    private let chosen = Atomic<Int>(0)
    private let left = Atomic<Int>(0)

    /// Makes a cache. `capacity`: the origins that are remembered, 1024 by default; a full cache forgets those that
    /// expire first. `clock`: a monotonic clock.
    public init(capacity: Int = 1024, clock: any Clock<Duration> = ContinuousClock()) {
        table = Mutex(AltServiceTable(capacity: capacity))
        stopwatch = Stopwatch(clock)
    }

    /// Takes the `Alt-Svc` values of a response. Ignored if the response did not come over TLS without a fault, or if
    /// the field is malformed. `age`: the value of the `Age` field in seconds.
    public func learn(_ values: [String], from origin: String, age: Int64 = 0, overFaultlessTLS isFaultless: Bool) {
        guard isFaultless, let field = AltService.Field(values) else { return }
        let now = stopwatch.now()
        table.withLock { $0.fieldReceived(field, from: origin, age: age, now: now) }
    }

    /// The alternatives of an origin that may be used, in the order of the server's preference.
    public func services(of origin: String) -> [AltService] {
        let now = stopwatch.now()
        return table.withLock { $0.services(of: origin, now: now) }
    }

    /// Leaves an alternative out for a time, five minutes by default, because it could not be reached.
    public func markBroken(_ service: AltService, of origin: String, for span: Duration = .seconds(300)) {
        let now = stopwatch.now()
        table.withLock { $0.serviceFailed(service, of: origin, span: span, now: now) }
    }

    /// Forgets the alternatives that do not persist, because the network has changed.
    public func networkChanged() {
        table.withLock { $0.networkChanged() }
    }

    /// How many origins have alternatives, expired ones included.
    public var count: Int { table.withLock { $0.entries.count } }

    /// What has happened so far. The members are read one after the other while requests run.
    public var counts: Counts {
        Counts(chosen: chosen.load(ordering: .relaxed), left: left.load(ordering: .relaxed))
    }

    func wasChosen() { chosen.wrappingAdd(1, ordering: .relaxed) }
    func wasLeft() { left.wrappingAdd(1, ordering: .relaxed) }
}
