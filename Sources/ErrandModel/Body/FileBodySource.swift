import Dispatch
import Glibc

/// A range of a regular file, read while it is sent. A file that has become too short is ``ErrandError/invalidBody``
/// when it is opened and ``ErrandError/uploadFailed`` later, as for files that the engine reads.
package struct FileBodySource: RequestBodySource {
    let path: String
    let offset: Int64
    package let count: Int64

    /// Opens the file and closes it again. Throws ``ErrandError/fileUnreadable``, or ``ErrandError/invalidBody`` if the
    /// range is not within the file.
    package init(path: String, offset: UInt64 = 0, length: Int64? = nil) throws(ErrandError) {
        guard !path.utf8.contains(0), length ?? 0 >= 0, let offset = Int64(exactly: offset) else {
            throw ErrandError.invalidBody.with(
                message:
                    "\(path.debugDescription) cannot be sent from offset \(offset): the path or the length is invalid")
        }
        let (descriptor, size) = try Self.open(path)
        _ = Glibc.close(descriptor)
        guard offset <= size, length ?? 0 <= size - offset else {
            let stretch = length.map { "\($0) bytes" } ?? "all"
            throw ErrandError.invalidBody.with(
                message: "\(path) has \(size) bytes; \(stretch) from offset \(offset) cannot be sent")
        }
        self.path = path
        self.offset = offset
        count = length ?? size - offset
    }

    package var length: Int64? { count }
    package var isReplayable: Bool { true }

    package func open() throws -> sending any BodyReader {
        let (descriptor, size) = try Self.open(path)
        guard size >= offset + count else {
            _ = Glibc.close(descriptor)
            throw ErrandError.invalidBody.with(message: Self.shorter(path))
        }
        return Reader(descriptor: descriptor, path: path, position: offset, end: offset + count)
    }

    private static func open(_ path: String) throws(ErrandError) -> (descriptor: Int32, size: Int64) {
        // Non-blocking, because opening a FIFO without a writer would block the caller; no effect on regular files.
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw unreadable(path, errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let code = errno
            _ = Glibc.close(descriptor)
            throw unreadable(path, code)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            _ = Glibc.close(descriptor)
            throw ErrandError.fileUnreadable.with(message: "\(path) is not a regular file")
        }
        return (descriptor, Int64(status.st_size))
    }

    private static func unreadable(_ path: String, _ code: Int32) -> ErrandError {
        let error = SystemError(code)
        let kind: ErrandError = error.isOutOfDescriptors ? .outOfDescriptors : .fileUnreadable
        return kind.with(message: "\(path) cannot be read: \(error.text)")
    }

    private static func shorter(_ path: String) -> String {
        "\(path) was truncated after the request was built"
    }

    private final class Reader: BodyReader {
        private let descriptor: Int32
        private let path: String
        private var position: Int64
        private let end: Int64

        init(descriptor: Int32, path: String, position: Int64, end: Int64) {
            self.descriptor = descriptor
            self.path = path
            self.position = position
            self.end = end
        }

        /// Does not read on a thread of the concurrency pool: a disk may be slow, and the pool has one thread per core.
        func next(maximum: Int) async throws -> [UInt8]? {
            let count = Int(min(Int64(max(1, maximum)), end - position, 256 * 1024))
            guard count > 0 else { return nil }
            let (descriptor, position) = (descriptor, position)
            let read = await withUnsafeContinuation { continuation in
                DispatchQueue.global().async {
                    continuation.resume(returning: Self.read(descriptor, at: position, count: count))
                }
            }
            let bytes = try read.mapError { FileBodySource.unreadable(path, $0.code) }.get()
            guard !bytes.isEmpty else { throw ErrandError.uploadFailed.with(message: FileBodySource.shorter(path)) }
            self.position += Int64(bytes.count)
            return bytes
        }

        private struct SystemError: Error {
            let code: Int32
        }

        private static func read(
            _ descriptor: Int32, at position: Int64, count: Int
        ) -> Result<[UInt8], SystemError> {
            var code: Int32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
                var got = -1
                repeat {
                    got = pread(descriptor, buffer.baseAddress, count, off_t(position))
                    code = got < 0 ? errno : 0
                } while code == EINTR
                filled = max(0, got)
            }
            return code == 0 ? .success(bytes) : .failure(SystemError(code: code))
        }

        func close() {
            _ = Glibc.close(descriptor)
        }
    }
}
