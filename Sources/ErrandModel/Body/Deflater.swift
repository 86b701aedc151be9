import CZlib

/// A gzip stream (RFC 1952) being written. Used by one task at a time.
final class Deflater {
    /// zlib's state points back to it, so it must not move.
    private let stream: UnsafeMutablePointer<z_stream>

    static let levels = 1...9

    /// Throws ``ErrandError/invalidOption`` for a level that is not one of ``levels``.
    init(level: Int) throws(ErrandError) {
        guard Self.levels.contains(level) else {
            throw ErrandError.invalidOption.with(message: "the gzip level is \(level), not within 1...9")
        }
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 15 bits of window, and 16 for a gzip header and trailer in place of zlib's.
        let status = deflateInit2_(
            stream, Int32(level), Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else {
            throw status == Z_MEM_ERROR ? .outOfMemory : .internalFailure
        }
    }

    deinit {
        // After a failed init, too: it returns an error for a state it does not know.
        deflateEnd(stream)
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// What these bytes add to the output; often nothing until `isLast`, after which nothing may follow.
    func compress(_ bytes: [UInt8], isLast: Bool) throws(ErrandError) -> [UInt8] {
        var output: [UInt8] = []
        var status = Z_OK
        let room = 64 * 1024
        bytes.withUnsafeBufferPointer { input in
            // zlib reads through a pointer to mutable bytes; it does not write.
            var next = UnsafeMutablePointer(mutating: input.baseAddress)
            var left = input.count
            repeat {
                // 32-bit counts.
                let taken = min(left, Int(Int32.max))
                stream.pointee.next_in = next
                stream.pointee.avail_in = UInt32(taken)
                left -= taken
                next = next.map { $0 + taken }
                var isFull = false
                repeat {
                    let chunk = [UInt8](unsafeUninitializedCapacity: room) { buffer, filled in
                        stream.pointee.next_out = buffer.baseAddress
                        stream.pointee.avail_out = UInt32(room)
                        status = deflate(stream, isLast && left == 0 ? Z_FINISH : Z_NO_FLUSH)
                        isFull = stream.pointee.avail_out == 0
                        filled = room - Int(stream.pointee.avail_out)
                    }
                    output += chunk
                } while isFull && status == Z_OK
            } while left > 0
        }
        // Z_BUF_ERROR: nothing was left to do.
        guard status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR else { throw .internalFailure }
        return output
    }
}
