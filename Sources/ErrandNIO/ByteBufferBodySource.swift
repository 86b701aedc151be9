import Errand
import NIOCore

/// The buffers of an asynchronous sequence, each sent as it arrives.
struct ByteBufferBodySource<S: AsyncSequence>: RequestBodySource where S.Element == ByteBuffer {
    let length: Int64?
    let isReplayable: Bool
    private let make: @Sendable () throws -> S

    /// `make` is called for each transfer.
    init(length: Int64?, isReplayable: Bool, _ make: @escaping @Sendable () throws -> S) {
        self.length = length
        self.isReplayable = isReplayable
        self.make = make
    }

    func open() throws -> sending any BodyReader {
        Reader(try make(), length: length)
    }

    /// Lends the bytes of the buffers to the engine.
    private final class Reader: SharedBytesReader {
        private var iterator: S.AsyncIterator
        /// The buffer whose rest was larger than the last `maximum`.
        private var present = ByteBuffer()
        /// Whether `present` has few bytes in much memory, such as a TLS buffer with a record of some bytes in 32
        /// KiB, or a slice of a large buffer. A loan keeps all of that memory, but credit counts only the bytes.
        private var isSparse = false
        private var isOver = false
        private let length: Int64?
        private var count: Int64 = 0

        init(_ sequence: S, length: Int64?) {
            iterator = sequence.makeAsyncIterator()
            self.length = length
        }

        func nextShared(maximum: Int) async throws -> SharedBytes? {
            while present.readableBytes == 0 {
                if isOver { return nil }
                guard let next = try await iterator.next() else {
                    isOver = true
                    present = ByteBuffer()
                    try checkLength(isAtEnd: true)
                    return nil
                }
                present = next
                // Computed from the buffer as it came, because the rest of a large buffer is lent like its beginning.
                isSparse = next.readableBytes * 8 < next.storageCapacity
            }
            let size = min(present.readableBytes, max(1, maximum))
            count += Int64(size)
            try checkLength(isAtEnd: false)
            var bytes = SharedBytes(present).prefix(size)
            // The engine itself copies fewer bytes than that.
            if isSparse, size >= SharedBytes.smallestLoan {
                bytes = bytes.withUnsafeBytes { SharedBytes(copying: $0) }
            }
            present.moveReaderIndex(forwardBy: size)
            // The engine alone decides how long it needs the memory.
            if present.readableBytes == 0 { present = ByteBuffer() }
            return bytes
        }

        private func checkLength(isAtEnd: Bool) throws {
            guard let length, count > length || isAtEnd && count < length else { return }
            throw ErrandError.invalidBody.with(
                message:
                    "the body's source returned \(count > length ? "more" : "fewer") than its length of \(length) bytes"
            )
        }

        func close() {
            present = ByteBuffer()
        }
    }
}
