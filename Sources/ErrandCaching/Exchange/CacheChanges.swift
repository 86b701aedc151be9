import Synchronization

/// Records recent removals and writes. A response whose request was sent before a removal may be as old as the removed
/// response, so it is not stored. A response that only confirms a stored one (304) does not overwrite a newer response.
///
/// A change is recorded before the store is called, and checked both before and after a write. Therefore, when a write
/// and a removal race, either the store runs the removal last, or the writer removes its own record again. Changes that
/// other processes make in a shared store are not known here.
final class CacheChanges: Sendable {
    private struct Noted {
        /// Moment of the last removal, by tag and by ``CacheKey/removalName``.
        var removals: [String: UInt64] = [:]
        /// Everything counts as removed at this moment.
        var removal: UInt64 = 0
        /// Moment of the last removal by age, and the storing time up to which records were removed.
        var aged: UInt64 = 0
        var instant = Int64.min
        var arrivals: [CacheKey: UInt64] = [:]
        /// Every key counts as written at this moment.
        var arrival: UInt64 = 0
    }

    /// The maximum number of names, and of keys, that are recorded separately. Beyond that, a change counts for all of
    /// them.
    private let most: Int
    private let last = Atomic<UInt64>(0)
    private let lastRemoval = Atomic<UInt64>(0)
    private let noted = Mutex(Noted())

    init(most: Int = 4096) {
        self.most = most
    }

    /// The current moment: the number of changes so far.
    package var moment: UInt64 { last.load(ordering: .acquiring) }

    /// The moment of the last removal of one of these names, or of everything; 0: never. Two requests with such a
    /// removal between them must not share a transfer.
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

    /// Records a removal of everything stored before that instant, in milliseconds since 1970.
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

    /// Whether one of these names was removed after that moment. `names` is called only if anything was removed.
    /// `storedAt`: set for a record that is stored again; then removals by age count too.
    func hasRemoved(_ names: () -> [String], storedAt: Int64? = nil, since moment: UInt64) -> Bool {
        guard lastRemoval.load(ordering: .acquiring) > moment else { return false }
        let names = names()
        return noted.withLock { noted in
            if let storedAt, noted.aged > moment, storedAt < noted.instant { return true }
            return noted.removal > moment || names.contains { (noted.removals[$0] ?? 0) > moment }
        }
    }

    /// Whether a record was written under one of these keys after that moment.
    func hasStored(under keys: [CacheKey], since moment: UInt64) -> Bool {
        guard self.moment != moment else { return false }
        return noted.withLock { noted in
            noted.arrival > moment || keys.contains { (noted.arrivals[$0] ?? 0) > moment }
        }
    }
}

extension CacheKey {
    /// The name of this key among the tags of records. It begins with a control character, so it equals no tag.
    var removalName: String { "\u{2}" + digest + namespace }
}
