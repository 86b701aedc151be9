import Synchronization

/// What was removed lately, and where responses were stored: a response that was asked for before is as old as what was
/// removed, and is not stored after; and one that only confirms what was there (304) is not stored over a newer one.
///
/// Changes are noted before the store hears of them, and looked at both before a write and after it. So of a write and a
/// removal at the same moment either the store hears of the removal last, or the writer takes back what it wrote. What other
/// processes change in a store that they share is not known here.
final class CacheChanges: Sendable {
    private struct Noted {
        /// By tag, and by ``CacheKey/removalName``.
        var removals: [String: UInt64] = [:]
        /// Everything counts as removed then.
        var removal: UInt64 = 0
        /// When something was removed by age last, and up to which time of storing.
        var aged: UInt64 = 0
        var instant = Int64.min
        var arrivals: [CacheKey: UInt64] = [:]
        /// Something counts as stored everywhere then.
        var arrival: UInt64 = 0
    }

    /// So many names are told apart, and so many keys; beyond that it counts as all of them.
    private let most: Int
    private let last = Atomic<UInt64>(0)
    private let lastRemoval = Atomic<UInt64>(0)
    private let noted = Mutex(Noted())

    init(most: Int = 4096) {
        self.most = most
    }

    /// Now, as the count of changes.
    package var moment: UInt64 { last.load(ordering: .acquiring) }

    /// When one of these was removed last, or everything; 0: never. Two requests between which that was must not share a
    /// transfer.
    func lastRemoval(of names: [String]) -> UInt64 {
        guard lastRemoval.load(ordering: .acquiring) > 0 else { return 0 }
        return noted.withLock { noted in names.reduce(noted.removal) { max($0, noted.removals[$1] ?? 0) } }
    }

    private func next() -> UInt64 { last.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue }

    private func noteRemoval(_ body: (inout Noted, UInt64) -> Void) {
        noted.withLock { noted in
            let moment = next()
            body(&noted, moment)
            lastRemoval.store(moment, ordering: .releasing)
        }
    }

    func noteRemoval(of names: [String]) {
        noteRemoval { noted, moment in
            guard noted.removals.count + names.count <= most else {
                noted.removals = [:]
                return noted.removal = moment
            }
            for name in names { noted.removals[name] = moment }
        }
    }

    /// Of what was stored before that instant, in milliseconds since 1970.
    func noteRemoval(olderThan instant: Int64) {
        noteRemoval { noted, moment in
            noted.aged = moment
            noted.instant = max(noted.instant, instant)
        }
    }

    func noteRemovalOfAll() {
        noteRemoval { noted, moment in
            noted.removals = [:]
            noted.removal = moment
        }
    }

    func noteArrival(under key: CacheKey) {
        noted.withLock { noted in
            let moment = next()
            if noted.arrivals.count >= most {
                noted.arrivals = [:]
                noted.arrival = moment
            }
            noted.arrivals[key] = moment
        }
    }

    /// Whether one of these was removed after that moment; `names` is called only where anything was. `storedAt`: of what
    /// is only to be stored again; then removals by age count, too.
    func hasRemoved(_ names: () -> [String], storedAt: Int64? = nil, since moment: UInt64) -> Bool {
        guard lastRemoval.load(ordering: .acquiring) > moment else { return false }
        let names = names()
        return noted.withLock { noted in
            if let storedAt, noted.aged > moment, storedAt < noted.instant { return true }
            return noted.removal > moment || names.contains { (noted.removals[$0] ?? 0) > moment }
        }
    }

    /// Whether something was stored under one of these after that moment.
    func hasStored(under keys: [CacheKey], since moment: UInt64) -> Bool {
        guard self.moment != moment else { return false }
        return noted.withLock { noted in
            noted.arrival > moment || keys.contains { (noted.arrivals[$0] ?? 0) > moment }
        }
    }
}

extension CacheKey {
    /// Among the tags of records, which it is none of.
    var removalName: String { "\u{2}" + digest + namespace }
}
