import CErrand
import Synchronization

/// The engine's object for each distinct ``ConnectionOptions`` that a client's requests go by.
package final class OptionsCache: Sendable {
    /// The table is emptied beyond this many values; what requests still use lives on by its own count.
    static let capacity = 256

    /// Seconds after which files that options name are looked at again.
    package static let pause = 60

    private let slots = Mutex<[ConnectionOptions: OptionsSlot]>([:])
    /// The group's default, where it names files. Not asked for otherwise: plain requests take no lock here.
    private let standard = Mutex<OptionsSlot?>(nil)
    private let watchesStandard = Atomic<Bool>(false)
    private let pause: Int

    init(pause: Int = OptionsCache.pause) {
        self.pause = pause
    }

    /// Owns: the result has a reference of the caller's; `nil`, for no options, means the group's default. Throws what
    /// `errand_options_create` says.
    func handle(for options: ConnectionOptions?) throws(ErrandError) -> OpaquePointer? {
        guard let options else {
            guard watchesStandard.load(ordering: .acquiring) else { return nil }
            return standard.withLock({ $0 })?.retained()
        }
        if let known = slots.withLock({ $0[options] }) { return known.retained() }
        let made = try OptionsSlot(options, pause: pause)
        // Two threads may make the same value at once; the later one replaces the earlier, which nobody notices.
        let dropped = slots.withLock { slots in
            var dropped: [ConnectionOptions: OptionsSlot] = [:]
            if slots.count >= Self.capacity { swap(&dropped, &slots) }
            slots[options] = made
            return dropped
        }
        _ = dropped
        return made.retained()
    }

    /// The object for a group's default. Owns: as ``handle(for:)``.
    func standardHandle(for options: ConnectionOptions) throws(ErrandError) -> OpaquePointer {
        let made = try OptionsSlot(options, pause: pause)
        if made.hasFiles {
            standard.withLock { $0 = made }
            watchesStandard.store(true, ordering: .releasing)
        }
        return made.retained()
    }

    /// Has the files looked at by whoever comes next.
    func lookSoon() {
        for slot in slots.withLock({ Array($0.values) }) { slot.lookSoon() }
        standard.withLock({ $0 })?.lookSoon()
    }
}
