import CErrand
import Synchronization

/// The engine's object for each distinct ``ConnectionOptions`` of a client's requests.
package final class OptionsCache: Sendable {
    /// The table is emptied beyond this many values; the objects that requests still use live on by their reference
    /// counts.
    static let capacity = 256

    /// Seconds after which the files that options name are checked again.
    package static let pause = 60

    private let slots = Mutex<[ConnectionOptions: OptionsSlot]>([:])
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
        if let known = slots.withLock({ $0[options] }) { return known.retained() }
        let made = try OptionsSlot(options, pause: pause)
        // Two threads may make the same value at once. The later one replaces the earlier, which has no visible effect.
        let dropped = slots.withLock { slots in
            var dropped: [ConnectionOptions: OptionsSlot] = [:]
            if slots.count >= Self.capacity { swap(&dropped, &slots) }
            slots[options] = made
            return dropped
        }
        _ = dropped
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
        for slot in slots.withLock({ Array($0.values) }) { slot.lookSoon() }
        standard.withLock({ $0 })?.lookSoon()
    }
}
