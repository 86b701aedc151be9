import CErrand
import Glibc
import Synchronization

/// One value of connection options, and the engine's object for it. A new object is made when a file that the value
/// names was replaced: libcurl keeps a CA file that it read for a day, and the engine compares files only by their
/// paths. New connections then use the new object; the connections of the old object get no new requests and end.
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
        /// When to check the files again, in ``now()``.
        var lookAt: Int
    }

    private let options: ConnectionOptions
    private let addresses: PartChoice<any AddressFilter>
    private let files: [String]
    /// Seconds between two checks.
    private let pause: Int
    private let state: Mutex<State>

    /// `addresses`: the judge of the addresses of connections; `.client`: the judge of the group. Throws the error of
    /// `errand_options_create`.
    init(
        _ options: ConnectionOptions, pause: Int, addresses: PartChoice<any AddressFilter> = .client
    ) throws(ErrandError) {
        self.options = options
        self.addresses = addresses
        self.pause = pause
        files = options.files
        // Read before the files are opened: the next check detects a file that is replaced in between.
        let stamps = files.map(FileStamp.init)
        let handle = Handle(try Self.make(options, addresses))
        state = Mutex(State(handle: handle, stamps: stamps, lookAt: files.isEmpty ? .max : Self.now() + pause))
    }

    /// Whether there are files to check.
    var hasFiles: Bool { !files.isEmpty }

    /// The next ``retained()`` checks the files, whenever the last check was.
    func lookSoon() {
        guard hasFiles else { return }
        state.withLock { $0.lookAt = .min }
    }

    /// Owns: the caller gets a reference with the result.
    func retained() -> OpaquePointer {
        let (handle, isDue) = state.withLock { state in
            guard state.lookAt != .max else { return (state.handle, false) }
            let now = Self.now()
            guard state.lookAt <= now else { return (state.handle, false) }
            // Requests that come during the check use the present object.
            state.lookAt = now + pause
            return (state.handle, true)
        }
        // The check of another thread may drop the slot's own reference in between.
        return withExtendedLifetime(isDue ? look(handle) : handle) { errand_options_retain($0.pointer) }
    }

    /// If the new files cannot be used, for example because one is missing, the present object stays; the next check
    /// tries again.
    private func look(_ present: Handle) -> Handle {
        let stamps = files.map(FileStamp.init)
        guard state.withLock({ $0.stamps }) != stamps, let made = try? Self.make(options, addresses) else {
            return present
        }
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

    /// Seconds of a clock that is cheap to read and never goes backwards.
    private static func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return time.tv_sec
    }

    /// Owns: the caller gets the result's reference.
    private static func make(
        _ options: ConnectionOptions, _ addresses: PartChoice<any AddressFilter>
    ) throws(ErrandError) -> OpaquePointer {
        try options.check()
        var made: OpaquePointer?
        let status = options.withCOptions { $0.create(judgedBy: addresses, &made) }
        if let error = ErrandError(status) {
            throw error.with(message: "\(error.message): \(options.summary)")
        }
        guard let made else { throw .internalFailure }
        return made
    }
}

extension ConnectionOptions {
    /// The files that libcurl reads when it makes a connection.
    fileprivate var files: [String] {
        [tls.caFile, tls.proxyCAFile, tls.clientCertificate, tls.clientKey].compactMap { $0?.value }
    }
}

/// The identity, size and times of the file at a path: enough to detect that it was replaced or rewritten.
struct FileStamp: Sendable, Equatable {
    private let device, inode: UInt64
    private let size: Int
    private let modified, changed: [Int]

    /// `nil` if there is no file. Calls the file system.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int(status.st_size)
        modified = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
        changed = [status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
    }
}
