import Synchronization

/// What was removed lately: a response that was asked for before is as old as what was removed, and is not stored after.
///
/// Removals are noted before the store hears of them, and looked at both before a write and after it. So of a write and a
/// removal at the same moment either the store hears of the removal last, or the writer takes back what it wrote.
final class CacheRemovals: Sendable {
    private struct Noted {
        var moments: [String: UInt64] = [:]
        /// Everything counts as removed then.
        var all: UInt64 = 0
    }

    /// So many names are told apart; beyond that everything counts as removed.
    private let most: Int
    private let last = Atomic<UInt64>(0)
    private let noted = Mutex(Noted())

    init(most: Int = 4096) {
        self.most = most
    }

    /// Now, as the count of removals.
    var moment: UInt64 { last.load(ordering: .acquiring) }

    func note(_ names: [String]) {
        noted.withLock { noted in
            let moment = last.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue
            if noted.moments.count + names.count > most {
                noted = Noted(all: moment)
            } else {
                for name in names { noted.moments[name] = moment }
            }
        }
    }

    func noteAll() {
        noted.withLock { noted in
            noted = Noted(all: last.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue)
        }
    }

    /// Whether one of these was removed after that moment. `names` is called only where anything was.
    func hasRemoved(_ names: () -> [String], since moment: UInt64) -> Bool {
        guard self.moment != moment else { return false }
        let names = names()
        return noted.withLock { noted in
            noted.all > moment || names.contains { (noted.moments[$0] ?? 0) > moment }
        }
    }
}

extension CacheKey {
    /// Among the tags of records, which it is none of.
    var removalName: String { "\u{2}" + digest + namespace }
}
