import Errand
import ErrandSQLite
import ErrandTesting
import Glibc

/// A program for the tests of the cache file: one that may be killed, or that has less than its parent. What goes on for
/// ever ends when the tests have ended, however they did.
///
///     errand-cache-probe write PATH SEED   writes, reads and removes for ever; ends with 3 where a record is not whole
///     errand-cache-probe log PATH SEED     as write; kills itself between two calls, once the log has 256 KiB
///     errand-cache-probe read PATH         reads for ever; ends with 3 where a record is not whole
///     errand-cache-probe verify PATH       reads all; prints how many there are; ends with 3 where one is not whole
///     errand-cache-probe some PATH         writes eight records
///     errand-cache-probe full PATH         as write, with files of 300 KiB at most; prints what it met, and its health
///     errand-cache-probe nobody PATH       reads and writes as the user nobody; prints what it met, and its health
///     errand-cache-probe fork PATH         forks while the file is open; prints what child and parent met
///     errand-cache-probe lock PATH         has the file for itself; prints so, and goes on for ever
///     errand-cache-probe keys PATH         prints where responses to commands with bodies of all kinds are stored
///     errand-cache-probe damage PATH SEED  changes bytes of any file in place
@main
enum CacheProbe {
    /// The process that started this one. When it has ended, another is the parent.
    private static let parent = getppid()

    static func endIfAbandoned() {
        if getppid() != parent { exit(0) }
    }

    static func main() {
        // Read now, and not with the first use.
        _ = parent
        let arguments = CommandLine.arguments
        guard arguments.count > 2 else { exit(2) }
        // Those that others hold up end with a lock that was not theirs in time.
        let isOneOfMany = ["write", "log", "read", "verify"].contains(arguments[1])
        let store = SQLiteCacheStore(path: arguments[2], busyTimeout: .seconds(isOneOfMany ? 60 : 5))
        let seed = arguments.count > 3 ? UInt64(arguments[3]) ?? 1 : 1
        switch arguments[1] {
        case "write": write(to: store, seed: seed)
        case "log": write(to: store, seed: seed, until: arguments[2] + "-wal")
        case "read": read(store)
        case "verify": verify(store)
        case "some": writeSome(to: store)
        case "full": fill(store)
        case "nobody": beNobody(store)
        case "fork": fork(with: store, path: arguments[2])
        case "lock": lock(arguments[2])
        case "keys": tellKeys()
        case "damage": damage(arguments[2], seed: seed)
        default: exit(2)
        }
    }

    private static func write(to store: SQLiteCacheStore, seed: UInt64, until log: String? = nil) -> Never {
        var numbers = SeededGenerator(seed: seed)
        while true {
            endIfAbandoned()
            if let log, size(of: log) >= 256 << 10 { kill(getpid(), SIGKILL) }
            let place = Int(numbers.next() % UInt64(ProbeRecord.count))
            do throws(CacheStoreError) {
                switch numbers.next() % 16 {
                case 0: try store.remove(ProbeRecord.key(place))
                case 1: try store.remove(tag: "odd")
                case 2...7: check(try store.read(ProbeRecord.key(place)), place)
                default:
                    let version = Int64(truncatingIfNeeded: numbers.next() >> 1)
                    try store.write(ProbeRecord.record(place, version: version), for: ProbeRecord.key(place))
                }
            } catch {
                print("met \(error)")
                exit(4)
            }
            let health = store.health
            if health.condition != .working || health.repairs > 0 {
                print("health \(health)")
                exit(5)
            }
        }
    }

    private static func size(of path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    private static func read(_ store: SQLiteCacheStore) -> Never {
        var place = 0
        while true {
            endIfAbandoned()
            place = (place + 1) % ProbeRecord.count
            do throws(CacheStoreError) { check(try store.read(ProbeRecord.key(place)), place) } catch {
                print("met \(error)")
                exit(4)
            }
        }
    }

    private static func verify(_ store: SQLiteCacheStore) {
        var count = 0
        do throws(CacheStoreError) {
            for place in 0..<ProbeRecord.count {
                guard let record = try store.read(ProbeRecord.key(place)) else { continue }
                check(record, place)
                count += 1
            }
            let statistics = try store.statistics()
            guard statistics.entries == count, statistics.discarded == 0 else {
                print("statistics \(statistics), found \(count)")
                exit(6)
            }
        } catch {
            print("met \(error)")
            exit(4)
        }
        print(count)
    }

    static func check(_ record: CacheRecord?, _ place: Int) {
        guard let record, record != ProbeRecord.record(place, version: record.version) else { return }
        print("record \(place) of version \(record.version) is not whole")
        exit(3)
    }

    private static func writeSome(to store: SQLiteCacheStore) {
        for place in 0..<8 {
            do throws(CacheStoreError) {
                try store.write(ProbeRecord.record(place, version: 1), for: ProbeRecord.key(place))
            } catch {
                exit(4)
            }
        }
    }

    private static func fill(_ store: SQLiteCacheStore) {
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit(rlim_cur: 300 << 10, rlim_max: 300 << 10)
        guard setrlimit(__rlimit_resource_t(1), &limit) == 0 else { exit(2) }  // RLIMIT_FSIZE
        for place in 0..<ProbeRecord.count {
            do throws(CacheStoreError) {
                try store.write(ProbeRecord.record(place, version: 1), for: ProbeRecord.key(place))
            } catch {
                print("write \(place > 0 ? "after some" : "at once") \(error.shortDescription)")
                break
            }
        }
        find(in: store)
        tell(store)
    }

    private static func beNobody(_ store: SQLiteCacheStore) {
        if getuid() == 0 {
            guard setgid(65534) == 0, setuid(65534) == 0 else { exit(2) }
        }
        let places = find(in: store)
        for place in places.prefix(2) {
            tell("write", store, place) { () throws(CacheStoreError) in
                try store.write(ProbeRecord.record(place, version: 2), for: ProbeRecord.key(place))
            }
        }
        for place in places.dropFirst(2).prefix(1) {
            tell("remove", store, place) { () throws(CacheStoreError) in try store.remove(ProbeRecord.key(place)) }
        }
        if let place = places.dropFirst(3).first {
            let isThere = (try? store.read(ProbeRecord.key(place))) != nil
            print("another is \(isThere ? "found" : "gone")")
        }
        tell(store)
    }

    /// What came of it, and of a read after it.
    private static func tell(
        _ what: String, _ store: SQLiteCacheStore, _ place: Int, _ body: () throws(CacheStoreError) -> Void
    ) {
        var outcome = "done"
        do throws(CacheStoreError) { try body() } catch { outcome = error.shortDescription }
        let isThere = (try? store.read(ProbeRecord.key(place))) != nil
        print("\(what) \(outcome), then \(isThere ? "something" : "nothing")")
    }

    @discardableResult
    private static func find(in store: SQLiteCacheStore) -> [Int] {
        var found: [Int] = []
        for place in 0..<ProbeRecord.count {
            do throws(CacheStoreError) {
                guard let record = try store.read(ProbeRecord.key(place)) else { continue }
                check(record, place)
                found.append(place)
            } catch {
                print("read \(error.shortDescription)")
            }
        }
        print("found \(found.isEmpty ? "none" : "some")")
        return found
    }

    static func tell(_ store: SQLiteCacheStore) {
        print("health \(store.health.condition) \(store.health.reason?.shortDescription ?? "-")")
    }
}
