import CErrand
import Glibc
import Synchronization

/// One value of connection options, and the engine's object for it, which is made anew when a file that the value names
/// was replaced: libcurl keeps what it once read of a CA file for a day, and the engine knows files by their paths alone.
/// New connections then go by the new object; those of the old one are used by no new request and end.
final class OptionsSlot: Sendable {
    /// `@unchecked Sendable`: the pointer never changes, and the core counts its references atomically.
    private final class Handle: @unchecked Sendable {
        let pointer: OpaquePointer
        init(_ pointer: OpaquePointer) { self.pointer = pointer }
        deinit { errand_options_release(pointer) }
    }

    private struct State {
        var handle: Handle
        var stamps: [FileStamp?]
        /// When to look at the files again, in ``now()``.
        var lookAt: Int
    }

    private let options: ConnectionOptions
    private let files: [String]
    /// Seconds between two looks.
    private let pause: Int
    private let state: Mutex<State>

    /// Throws what `errand_options_create` says.
    init(_ options: ConnectionOptions, pause: Int) throws(ErrandError) {
        self.options = options
        self.pause = pause
        files = options.files
        // Before the files are opened: what is replaced meanwhile is seen by the next look.
        let stamps = files.map(FileStamp.init)
        let handle = Handle(try Self.make(options))
        state = Mutex(State(handle: handle, stamps: stamps, lookAt: files.isEmpty ? .max : Self.now() + pause))
    }

    /// Whether there is anything to look at.
    var hasFiles: Bool { !files.isEmpty }

    /// The next ``retained()`` looks at the files, whenever the last look was.
    func lookSoon() {
        guard hasFiles else { return }
        state.withLock { $0.lookAt = .min }
    }

    /// Owns: the result has a reference of the caller's.
    func retained() -> OpaquePointer {
        let (handle, isDue) = state.withLock { state in
            guard state.lookAt != .max else { return (state.handle, false) }
            let now = Self.now()
            guard state.lookAt <= now else { return (state.handle, false) }
            // Whoever comes meanwhile takes what there is.
            state.lookAt = now + pause
            return (state.handle, true)
        }
        // Another thread's look may drop the slot's own reference meanwhile.
        return withExtendedLifetime(isDue ? look(handle) : handle) { errand_options_retain($0.pointer) }
    }

    /// What cannot be used now, such as a file that is not there, leaves what there was; the next look tries again.
    private func look(_ present: Handle) -> Handle {
        let stamps = files.map(FileStamp.init)
        guard state.withLock({ $0.stamps }) != stamps, let made = try? Self.make(options) else { return present }
        let handle = Handle(made)
        let replaced = state.withLock { state in
            let replaced = state.handle
            state.handle = handle
            state.stamps = stamps
            return replaced
        }
        _ = replaced
        return handle
    }

    /// Seconds of a clock that is cheap to read and never goes back.
    private static func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return time.tv_sec
    }

    /// Owns: the result is the caller's.
    private static func make(_ options: ConnectionOptions) throws(ErrandError) -> OpaquePointer {
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

extension ConnectionOptions {
    /// What is read by libcurl when a connection is made.
    fileprivate var files: [String] {
        [tls.caFile, tls.proxyCAFile, tls.clientCertificate, tls.clientKey].compactMap { $0 }
    }
}
