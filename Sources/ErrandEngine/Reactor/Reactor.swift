import CErrand
import Dispatch
import Synchronization

/// The Swift owner of one `errand_group`, which it destroys once, after the last call on the group has returned.
///
/// `@unchecked Sendable`: `group` is set once, before any other thread knows the object, and is safe to use from any
/// thread by the core's contract; everything else is atomic or guarded by the mutex.
package final class Reactor: @unchecked Sendable {
    /// The number of calls in progress on `group`, plus `Gate.closed` after the threads have ended.
    private let gate = Atomic<UInt64>(0)
    private let waiters = Mutex<Waiters>(.running([]))
    // Set once, before any other thread has this object; destroyed behind `gate`, when no call on it is in progress.
    private nonisolated(unsafe) var group: OpaquePointer?

    private enum Waiters {
        /// The closures to call after the group was destroyed.
        case running([@Sendable () -> Void])
        /// The same, while the group is being destroyed, which writes its cookies.
        case destroying([@Sendable () -> Void])
        case destroyed
    }

    private enum Gate {
        static let closed: UInt64 = 1 << 63
    }

    private let filter: (any AddressFilter)?

    private init(_ filter: (any AddressFilter)?) {
        self.filter = filter
    }

    /// Starts the loop threads. `filter`: asked about the addresses of connections; without one the core asks nobody.
    /// Owns: the group holds a reference to the object until the group is destroyed.
    static func start(
        filter: (any AddressFilter)?, _ configure: (inout errand_group_init) -> Void
    ) throws(ErrandError) -> Reactor {
        let reactor = Reactor(filter)
        let context = Unmanaged.passRetained(reactor)
        var settings = errand_group_init(
            loops: 0, queue_capacity: 0, in_flight_limit: 0, origin_in_flight_limit: 0, shard_in_flight_limit: 0,
            max_concurrent_streams: 0, limit_header_bytes: 0, limit_header_count: 0, limit_body_bytes: 0,
            limit_decoded_bytes: 0, options: nil,
            cookies: .off, cookie_file: nil,
            on_records: { _, records, count in
                RecordIntake.take(UnsafeMutableBufferPointer(start: records, count: count))
            },
            context: context.toOpaque(), on_stopped: nil, address_filter: nil, address_filter_context: nil,
            allow_denied_library: 0)
        configure(&settings)
        if filter != nil {
            settings.address_filter_context = context.toOpaque()
            settings.address_filter = { context, _, address, reason in
                guard let context else { return 1 }
                let reactor = Unmanaged<Reactor>.fromOpaque(context).takeUnretainedValue()
                return reactor.filter?.answer(for: address.pointee, reason) ?? 0
            }
        }
        settings.on_stopped = { context in
            guard let context else { return }
            Unmanaged<Reactor>.fromOpaque(context).takeUnretainedValue().threadsEnded()
        }
        let status = errand_group_create(&settings, &reactor.group)
        if let error = ErrandError(status) {
            context.release()
            throw error
        }
        return reactor
    }

    /// Calls `body` with the group, unless the group is destroyed or about to be.
    @inline(__always)
    func withGroup<Result>(_ body: (OpaquePointer) -> Result) -> Result? {
        let before = gate.wrappingAdd(1, ordering: .acquiring).oldValue
        defer { leave() }
        guard before & Gate.closed == 0, let group else { return nil }
        return body(group)
    }

    @inline(__always)
    private func leave() {
        if gate.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == Gate.closed {
            destroySoon()
        }
    }

    /// Ends all transfers at once; `stopped` is called after the group was destroyed.
    func stop(_ stopped: (@Sendable () -> Void)?) {
        if let stopped {
            let isDestroyed = waiters.withLock { waiters in
                switch waiters {
                case .running(let list): waiters = .running(list + [stopped])
                case .destroying(let list): waiters = .destroying(list + [stopped])
                case .destroyed: return true
                }
                return false
            }
            if isDestroyed { return stopped() }
        }
        let status = withGroup { errand_group_stop($0, .cancel, 0) }
        // A forked child has none of the threads that would report their end; its copy of the group is not destroyed.
        if status == .forked { takeWaiters()?.forEach { $0() } }
    }

    /// Called on the last loop thread, after its last record. The group cannot be destroyed here, as that joins this
    /// thread.
    private func threadsEnded() {
        let before = gate.bitwiseOr(Gate.closed, ordering: .acquiringAndReleasing).oldValue
        if before == 0 { destroySoon() }
    }

    /// Called when the gate is `closed` and no call is in progress. Usually that happens once; but a later call, which
    /// is turned away, also counts itself in and out and may get here. `beginDestroying` decides which of them destroys
    /// the group.
    private func destroySoon() {
        DispatchQueue.global().async { [self] in
            guard beginDestroying() else { return }
            errand_group_destroy(group)
            for stopped in takeWaiters() ?? [] { stopped() }
            Unmanaged.passUnretained(self).release()
        }
    }

    /// Whether the caller destroys the group.
    private func beginDestroying() -> Bool {
        waiters.withLock { waiters in
            guard case .running(let list) = waiters else { return false }
            waiters = .destroying(list)
            return true
        }
    }

    private func takeWaiters() -> [@Sendable () -> Void]? {
        waiters.withLock { waiters in
            switch waiters {
            case .running(let list), .destroying(let list):
                waiters = .destroyed
                return list
            case .destroyed: return nil
            }
        }
    }
}

/// The settings with which the engine starts; ``Client/Configuration`` documents each.
package struct ReactorSettings: Sendable {
    package var cookies = CookieStorage.off
    package var loops: Int?
    package var queueCapacity: Int?
    package var inFlightLimit: Int?
    package var originInFlightLimit: Int?
    package var maxConcurrentStreams: Int?
    package var connection = ConnectionOptions()
    package var addressFilter: (any AddressFilter)?

    package init() {}
}
