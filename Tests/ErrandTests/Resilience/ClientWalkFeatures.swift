import Synchronization

/// What a walk combines: the parts of its client, and what a user does to which requests.
struct ClientWalkFeatures: OptionSet, Sendable, Hashable {
    let rawValue: UInt16

    static let retry = Self(rawValue: 1 << 0)
    static let hedge = Self(rawValue: 1 << 1)
    static let breaker = Self(rawValue: 1 << 2)
    static let concurrency = Self(rawValue: 1 << 3)
    static let rate = Self(rawValue: 1 << 4)
    static let endpoints = Self(rawValue: 1 << 5)
    /// HSTS and alternative services. The address guard belongs to an engine, which a stub has not.
    static let guards = Self(rawValue: 1 << 6)
    /// The parts of the client only count.
    static let dryRun = Self(rawValue: 1 << 7)
    static let cancel = Self(rawValue: 1 << 8)
    static let pause = Self(rawValue: 1 << 9)
    static let shutdown = Self(rawValue: 1 << 10)
    /// A group, or a child of one.
    static let group = Self(rawValue: 1 << 11)
    /// A request with a cache policy. For a stream the policy must have no effect.
    static let cache = Self(rawValue: 1 << 12)
    static let stream = Self(rawValue: 1 << 13)

    /// By the number of the bit.
    static let names = [
        "retry", "hedge", "breaker", "concurrency", "rate", "endpoints", "guards", "dryRun", "cancel", "pause",
        "shutdown", "group", "cache", "stream",
    ]
}

/// The pairs of features that all walks together have reached.
final class ClientWalkCoverage: Sendable {
    /// For each feature, those that were there at the same time.
    private let rows = Mutex([UInt16](repeating: 0, count: ClientWalkFeatures.names.count))

    /// Something has happened to which all of these belong.
    func note(_ features: ClientWalkFeatures) {
        rows.withLock { rows in
            for index in rows.indices where features.rawValue & (1 << UInt16(index)) != 0 {
                rows[index] |= features.rawValue
            }
        }
    }

    /// Every pair, and whether it was reached.
    private var pairs: [(name: String, isReached: Bool)] {
        let rows = rows.withLock { $0 }
        let names = ClientWalkFeatures.names
        return rows.indices.flatMap { first in
            (first + 1..<rows.count).map { second in
                (name: "\(names[first]) x \(names[second])", isReached: rows[first] & (1 << UInt16(second)) != 0)
            }
        }
    }

    var reached: Int { pairs.count { $0.isReached } }
    var missing: [String] { pairs.filter { !$0.isReached }.map(\.name) }
}
