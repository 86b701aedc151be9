import CErrand
import Synchronization

/// One `errand_options` for each distinct ``ConnectionOptions`` that requests of a client bring along.
///
/// `@unchecked Sendable`: the handles are immutable and counted by the core, usable from any thread; the table of them
/// is under the mutex.
final class OptionsCache: @unchecked Sendable {
    /// The table is emptied beyond this many values; what requests still use lives on by its own count.
    static let capacity = 256

    private let handles = Mutex<[ConnectionOptions: Handle]>([:])

    /// `@unchecked Sendable`: the pointer never changes, and the core counts its references atomically.
    private final class Handle: @unchecked Sendable {
        let pointer: OpaquePointer
        init(_ pointer: OpaquePointer) { self.pointer = pointer }
        deinit { errand_options_release(pointer) }
    }

    /// Owns: the result has a reference of the caller's; `nil`, for no options, means the group's default. Throws what
    /// `errand_options_create` says.
    func handle(for options: ConnectionOptions?) throws(ErrandError) -> OpaquePointer? {
        guard let options else { return nil }
        if let known = handles.withLock({ table in table[options].map { errand_options_retain($0.pointer) } }) {
            return known
        }
        let made = try Self.make(options)
        // Two threads may make the same value at once; the later one replaces the earlier, which nobody notices.
        let kept = Handle(errand_options_retain(made))
        let dropped = handles.withLock { table in
            var dropped: [ConnectionOptions: Handle] = [:]
            if table.count >= Self.capacity { swap(&dropped, &table) }
            table[options] = kept
            return dropped
        }
        _ = dropped
        return made
    }

    /// Owns: the result is the caller's.
    static func make(_ options: ConnectionOptions) throws(ErrandError) -> OpaquePointer {
        try options.check()
        var made: OpaquePointer?
        let status = options.withCOptions { errand_options_create(&$0, &made) }
        if let error = ErrandError(status) {
            throw error.with(message: "\(error.message): \(options.summary)")
        }
        guard let made else { throw .internalFailure }
        return made
    }
}
