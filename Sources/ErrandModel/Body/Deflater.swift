import CZlib

/// Writes a gzip stream (RFC 1952). Used by one task at a time.
final class Deflater {
    /// zlib's state has a pointer back to the stream, so the stream must not move.
    private let stream: UnsafeMutablePointer<z_stream>

    static let levels = 1...9

    /// Throws ``ErrandError/invalidOption`` for a level outside ``levels``.
    init(level: Int) throws(ErrandError) {
        guard Self.levels.contains(level) else {
            throw ErrandError.invalidOption.with(message: "the gzip level is \(level), expected 1...9")
        }
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 15 bits of window, plus 16 for a gzip header and trailer instead of zlib's.
        let status = deflateInit2_(
            stream, Int32(level), Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else {
            throw status == Z_MEM_ERROR ? .outOfMemory : .internalFailure
        }
    }

    deinit {
        // Also called after a failed init: `deflateEnd` returns an error for a state that it does not know.
        deflateEnd(stream)
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// The output that these bytes add; often none until `isLast`. Must not be called after `isLast`.
    func compress(_ bytes: [UInt8], isLast: Bool) throws(ErrandError) -> [UInt8] {
        var output: [UInt8] = []
        var status = Z_OK
        let room = 64 * 1024
        bytes.withUnsafeBufferPointer { input in
            // zlib takes a pointer to mutable bytes, but only reads them.
            var next = UnsafeMutablePointer(mutating: input.baseAddress)
            var left = input.count
            repeat {
                // zlib counts in 32 bits.
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
        // Z_BUF_ERROR: there was nothing left to do.
        guard status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR else { throw .internalFailure }
        return output
    }
}
