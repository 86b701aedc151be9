import Glibc
import Synchronization

/// The hosts that are reached by https alone: HTTP Strict Transport Security (RFC 6797). Share one store between
/// clients. Any thread.
///
/// With ``Client/Configuration/hsts`` a client uses the store. If you use it by other means, learn from responses with
/// ``learn(_:from:overFaultlessTLS:)``, and ask ``upgraded(_:)`` before a request is sent and for each redirect. The
/// store is in memory; ``load(from:)`` and ``save(to:)`` keep it in a file in curl's format.
public final class HSTSStore: Sendable {
    /// A host that you list yourself. No response changes it.
    public struct Preload: Sendable, Hashable {
        /// The host, in its ASCII form.
        public var host: String
        /// Whether the policy also applies to all subdomains.
        public var includesSubdomains: Bool

        /// Makes an entry of the list.
        public init(_ host: String, includesSubdomains: Bool = true) {
            self.host = host
            self.includesSubdomains = includesSubdomains
        }
    }

    /// What the clients that use the store have done so far.
    public struct Counts: Sendable, Hashable {
        /// The http URLs that became https URLs: of commands, redirects and interceptors, and of transfers that were
        /// described before the host was known. The URL of a command that is only described counts too.
        public internal(set) var upgrades = 0
    }

    private let table: Mutex<HSTSTable>
    private let upgrades = Atomic<Int>(0)
    private let now: @Sendable () -> CacheTime

    /// Makes a store. `preloads`: known from the start; entries that are no host names are left out. `capacity`: how
    /// many hosts are learned at most, 1...2^20, 10,000 by default as in curl. A full store forgets hosts of the site
    /// that has most of them, and of these first the hosts whose policies expire first. This way one site cannot
    /// displace the others. The last two labels of a name stand for its site.
    public convenience init(preloads: [Preload] = [], capacity: Int = 10_000) {
        self.init(preloads: preloads, capacity: capacity) {
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            return CacheTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
        }
    }

    /// `now`: the wall clock.
    package init(preloads: [Preload] = [], capacity: Int = 10_000, now: @escaping @Sendable () -> CacheTime) {
        let preloads = preloads.map { (host: $0.host, includesSubdomains: $0.includesSubdomains) }
        table = Mutex(HSTSTable(preloads: preloads, capacity: capacity))
        self.now = now
    }

    /// Takes the `Strict-Transport-Security` fields of a response. Only the first value counts; one that violates the
    /// grammar changes nothing, `max-age=0` removes the host. Ignored for IP literals, and where the response did not
    /// come over TLS, or TLS had a fault such as an untrusted certificate that the caller accepted.
    public func learn(_ values: [String], from host: String, overFaultlessTLS isFaultless: Bool) {
        guard isFaultless, !values.isEmpty else { return }
        let time = now()
        table.withLock { _ = $0.fieldReceived(values, from: host, now: time) }
    }

    /// Whether the host is reached by https alone. False for IP literals.
    public func isKnown(_ host: String) -> Bool {
        let time = now()
        return table.withLock { $0.isKnown(host, now: time) }
    }

    /// The https URL instead of an http URL to a known host: port 80 becomes 443, another port stays, and none is added
    /// (RFC 6797 8.3). `nil`: the URL is to be used as it is.
    public func upgraded(_ url: String) -> String? {
        HSTSUpgrade.upgraded(url) { isKnown($0) }
    }

    /// What has happened so far.
    public var counts: Counts { Counts(upgrades: upgrades.load(ordering: .relaxed)) }

    package func urlWasUpgraded() { upgrades.wrappingAdd(1, ordering: .relaxed) }

    /// How many hosts were learned, expired ones included.
    public var count: Int { table.withLock { $0.learned.count } }

    /// Forgets what was learned about the host. A preloaded host stays known.
    public func forget(_ host: String) {
        table.withLock { $0.forgot(host) }
    }

    /// Forgets all learned hosts.
    public func forgetAll() {
        table.withLock { $0.forgotAll() }
    }

    /// The learned hosts in the format of curl's HSTS cache, one a line: `.host "YYYYMMDD HH:MM:SS"` in GMT. A dot
    /// before the host stands for its subdomains.
    public var text: String {
        let time = now()
        return table.withLock { $0 }.text(now: time)
    }

    /// Adds the hosts of such a text. Returns how many lines could not be read; these are left out. Of two entries for
    /// a host, the later expiry stays.
    @discardableResult
    public func read(_ text: String) -> Int {
        let lines = HSTSTable.Lines(text)
        let time = now()
        table.withLock { $0.linesRead(lines, now: time) }
        return lines.badCount
    }
}
