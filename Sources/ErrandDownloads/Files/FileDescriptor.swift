import Glibc

/// An open file or directory, closed when its owner is released. Calls that a signal interrupts are repeated. Errors
/// are `errno`.
struct FileDescriptor: ~Copyable {
    let number: Int32

    /// Takes over an open descriptor.
    init(owning number: Int32) {
        self.number = number
    }

    deinit {
        // Not repeated after EINTR: on Linux the descriptor is closed already, and another thread may have its number
        // by now.
        _ = Glibc.close(number)
    }

    struct Failure: Error, Equatable {
        let errno: Int32
    }

    static func checked(_ call: () -> Int) throws(Failure) -> Int {
        while true {
            let result = call()
            if result >= 0 { return result }
            let number = Glibc.errno
            guard number == EINTR else { throw Failure(errno: number) }
        }
    }

    func status() throws(Failure) -> stat {
        var status = Glibc.stat()
        _ = try Self.checked { Int(fstat(number, &status)) }
        return status
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Failure) {
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = try Self.checked {
                pwrite(number, rest.baseAddress, rest.count, off_t(offset) + off_t(written))
            }
            // POSIX does not allow a count of 0 for a regular file; without this check the loop would not end.
            guard count > 0 else { throw Failure(errno: EIO) }
            written += count
        }
    }

    func write(_ bytes: [UInt8], at offset: Int64) throws(Failure) {
        // A closure of `withUnsafeBytes` cannot throw a typed error here.
        let result = bytes.withUnsafeBytes { buffer in
            Result { () throws(Failure) in try write(buffer, at: offset) }
        }
        try result.get()
    }

    /// The bytes from `offset` on; fewer than `count` only at the end of the file.
    func read(_ count: Int, at offset: Int64) throws(Failure) -> [UInt8] {
        var failure: Failure?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = 0
            while filled < count {
                let rest = UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[filled...]))
                do throws(Failure) {
                    let got = try Self.checked {
                        pread(number, rest.baseAddress, rest.count, off_t(offset) + off_t(filled))
                    }
                    if got == 0 { return }
                    filled += got
                } catch {
                    failure = error
                    return
                }
            }
        }
        if let failure { throw failure }
        return bytes
    }

    func truncate(to length: Int64) throws(Failure) {
        _ = try Self.checked { Int(ftruncate(number, off_t(length))) }
    }

    /// Syncs the bytes and the metadata that is necessary to read them.
    func syncData() throws(Failure) {
        _ = try Self.checked { Int(fdatasync(number)) }
    }

    func sync() throws(Failure) {
        _ = try Self.checked { Int(fsync(number)) }
    }
}
