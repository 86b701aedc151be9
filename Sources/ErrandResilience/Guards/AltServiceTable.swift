/// The alternatives of origins, without a lock and a clock.
struct AltServiceTable: Sendable {
    struct Entry: Sendable, Hashable {
        let service: AltService
        let expires: Duration
        /// Until when the alternative is not used, after a failure.
        var brokenUntil: Duration?
    }

    private(set) var entries: [String: [Entry]] = [:]
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity.clamped(1...1_000_000)
    }

    /// A response of the origin had the field. `age`: the response's age in seconds, which counts against `ma`.
    mutating func fieldReceived(_ field: AltService.Field, from origin: String, age: Int64, now: Duration) {
        let now = now.clampedTime
        guard case .services(let services) = field else {
            entries[origin] = nil
            return
        }
        let former = entries[origin] ?? []
        let age = age.clamped(0...1 << 31)
        let fresh = services.compactMap { service -> Entry? in
            guard service.maxAge > age else { return nil }
            // A failure is remembered although the server announces the alternative again.
            let known = former.first { $0.service.isSamePlace(as: service) }
            return Entry(
                service: service, expires: now.clampedTime(plus: .seconds(service.maxAge - age)),
                brokenUntil: known?.brokenUntil)
        }
        if fresh.isEmpty {
            entries[origin] = nil
            return
        }
        if entries[origin] == nil {
            let last = { (entries: [Entry]) in entries.map(\.expires).max() ?? now }
            entries.makeRoom(capacity: capacity, order: last, isOver: { last($0) <= now })
        }
        entries[origin] = fresh
    }

    /// The alternatives that may be used, in the order of the server's preference.
    func services(of origin: String, now: Duration) -> [AltService] {
        let now = now.clampedTime
        return (entries[origin] ?? []).filter { $0.expires > now && ($0.brokenUntil ?? now) <= now }.map(\.service)
    }

    /// The alternative could not be reached.
    mutating func serviceFailed(_ service: AltService, of origin: String, span: Duration, now: Duration) {
        guard let index = entries[origin]?.firstIndex(where: { $0.service.isSamePlace(as: service) }) else { return }
        entries[origin]?[index].brokenUntil = now.clampedTime(plus: span)
    }

    /// The network has changed (RFC 7838 2.2): alternatives that do not persist are forgotten.
    mutating func networkChanged() {
        entries = entries.compactMapValues { entries in
            let kept = entries.filter(\.service.persists)
            return kept.isEmpty ? nil : kept
        }
    }
}

extension AltService {
    func isSamePlace(as other: AltService) -> Bool {
        protocolID == other.protocolID && host == other.host && port == other.port
    }
}
