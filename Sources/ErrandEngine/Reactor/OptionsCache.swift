import CErrand
import Synchronization

/// The engine's object for each distinct ``ConnectionOptions`` of a client's requests.
///
/// Forgetting an object costs more than making it again: options with authorities, addresses or a proxy of their own
/// get a new realm in the core with each object (`needs_identity` in transfer/options.c), so their kept connections,
/// TLS sessions and parsed authorities are lost.
package final class OptionsCache: Sendable {
    /// At least this many objects are kept in each table, those that were used last. The objects that requests still use
    /// live on by their reference counts.
    static let capacity = 256

    /// Seconds after which the files that options name are checked again.
    package static let pause = 60

    /// The options that the program has chosen.
    private let chosen = OptionsTable<ConnectionOptions>(capacity: OptionsCache.capacity)
    /// The options that lead to an alternative service. Servers decide how many there are (`Alt-Svc`), so these
    /// displace each other and nothing else.
    private let alternatives = OptionsTable<ConnectionOptions>(capacity: OptionsCache.capacity)
    /// The group's default, if it names files. Otherwise it is not read, so that plain requests take no lock here.
    private let standard = Mutex<OptionsSlot?>(nil)
    private let watchesStandard = Atomic<Bool>(false)
    private let pause: Int

    init(pause: Int = OptionsCache.pause) {
        self.pause = pause
    }

    /// Owns: the caller gets a reference with the result. `nil`, for no options, means the group's default. Throws the
    /// error of `errand_options_create`.
    func handle(for options: ConnectionOptions?) throws(ErrandError) -> OpaquePointer? {
        guard let options else { return standardHandle() }
        let table = options.connectTo == nil ? chosen : alternatives
        if let known = table.slot(for: options) { return known.retained() }
        let made = try OptionsSlot(options, pause: pause)
        // Two threads may make the same value at once. The later one replaces the earlier, which has no visible effect.
        table.add(made, for: options)
        return made.retained()
    }

    /// The group's default where it names files; otherwise `nil`. Ownership as in ``handle(for:)``.
    func standardHandle() -> OpaquePointer? {
        guard watchesStandard.load(ordering: .acquiring) else { return nil }
        return standard.withLock({ $0 })?.retained()
    }

    /// The object for a group's default. Ownership as in ``handle(for:)``.
    func standardHandle(for options: ConnectionOptions) throws(ErrandError) -> OpaquePointer {
        let made = try OptionsSlot(options, pause: pause)
        if made.hasFiles {
            standard.withLock { $0 = made }
            watchesStandard.store(true, ordering: .releasing)
        }
        return made.retained()
    }

    /// The next request of each slot checks the files.
    func lookSoon() {
        for slot in chosen.slots + alternatives.slots { slot.lookSoon() }
        standard.withLock({ $0 })?.lookSoon()
    }
}
