import Errand
import Foundation
import Synchronization

/// A body from an open file: standard input, a pipe, a device. The body is read as fast as it is sent, and is never
/// buffered as a whole. A regular file has a length and can be resent; a pipe has no length and can be sent only once.
final class DescriptorBodySource: RequestBodySource {
    let length: Int64?
    private let descriptor: Int32
    /// The offset at which reading a regular file starts; `nil`: not a regular file.
    private let start: off_t?
    /// The end of a regular file at the time when it was opened.
    private let end: off_t
    private let isOwned: Bool
    private let isTaken = Atomic(false)

    var isReplayable: Bool { start != nil }

    static var standardInput: DescriptorBodySource { DescriptorBodySource(STDIN_FILENO, isOwned: false) }

    convenience init(path: String) throws(ToolError) {
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw ToolError(.inputFile, "cannot read '\(path)': \(SystemError(errno).text)")
        }
        self.init(descriptor, isOwned: true)
    }

    private init(_ descriptor: Int32, isOwned: Bool) {
        self.descriptor = descriptor
        self.isOwned = isOwned
        var status = stat()
        let position = lseek(descriptor, 0, SEEK_CUR)
        // Files of /proc report a size of 0.
        if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0, position >= 0 {
            start = position
            end = status.st_size
            length = Int64(max(0, status.st_size - position))
        } else {
            start = nil
            end = 0
            length = nil
        }
    }

    deinit {
        if isOwned { close(descriptor) }
    }

    /// Throws ``ErrandError/uploadNotReplayable`` when a pipe is opened for a second time.
    func open() throws -> sending any BodyReader {
        if start == nil, isTaken.exchange(true, ordering: .relaxed) { throw ErrandError.uploadNotReplayable }
        return Reader(self)
    }

    private final class Reader: BodyReader {
        private let source: DescriptorBodySource
        private let queue = BlockingQueue()
        private var offset: off_t?

        init(_ source: DescriptorBodySource) {
            self.source = source
            offset = source.start
        }

        /// The writer of the pipe may never write. Cancelling the upload does not wait for the blocked read.
        func next(maximum: Int) async throws -> [UInt8]? {
            let (source, offset) = (source, offset)
            // If the file has grown, only the announced length is sent.
            let maximum = min(maximum, offset.map { Int(clamping: source.end - $0) } ?? maximum)
            guard maximum > 0 else { return nil }
            guard let read = await queue.runAbandonably({ source.read(maximum, at: offset) }) else {
                throw CancellationError()
            }
            let bytes = try read.get()
            self.offset = offset.map { $0 + off_t(bytes.count) }
            return bytes.isEmpty ? nil : bytes
        }

        func close() {}
    }

    private func read(_ maximum: Int, at offset: off_t?) -> Result<[UInt8], POSIXError> {
        var number: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: maximum) { buffer, count in
            var result: Int
            repeat {
                if number == EAGAIN {
                    // Another process has made the descriptor non-blocking.
                    var events = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                    poll(&events, 1, -1)
                }
                result =
                    if let offset { pread(descriptor, buffer.baseAddress, maximum, offset) } else {
                        Foundation.read(descriptor, buffer.baseAddress, maximum)
                    }
                number = result < 0 ? errno : 0
            } while number == EINTR || number == EAGAIN
            count = max(0, result)
        }
        return number == 0 ? .success(bytes) : .failure(POSIXError(POSIXErrorCode(rawValue: number) ?? .EIO))
    }
}
