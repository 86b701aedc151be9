import CZlib

/// Decodes the content codings gzip and deflate (RFC 9110 8.4.1) of bytes in memory.
package enum Inflater {
    /// Bytes without their codings.
    package struct Plain {
        /// The bytes.
        package var bytes: [UInt8]
        /// Whether nothing is missing at the end.
        package var isWhole: Bool
    }

    /// The bytes without their codings, at most `limit` of them. `nil`: a coding is not known, or the bytes are not in it.
    ///
    /// `codings`: the value of a `Content-Encoding` field.
    package static func plain(_ bytes: [UInt8], codings: String, atMost limit: Int) -> Plain? {
        let names = codings.split(separator: ",").map { name in
            name.lowercased().filter { $0 != " " && $0 != "\t" }
        }
        var plain = Plain(bytes: bytes, isWhole: true)
        // The last coding was applied last.
        for name in names.reversed() where !name.isEmpty && name != "identity" {
            guard ["gzip", "x-gzip", "deflate"].contains(name), let inner = inflated(plain.bytes, atMost: limit) else {
                return nil
            }
            plain = Plain(bytes: inner.bytes, isWhole: inner.isWhole && plain.isWhole)
        }
        return plain
    }

    private static func inflated(_ bytes: [UInt8], atMost limit: Int) -> Plain? {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        defer {
            stream.deinitialize(count: 1)
            stream.deallocate()
        }
        // 15 bits of window, plus 32 for the header of gzip or of zlib.
        guard inflateInit2_(stream, 15 + 32, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            return nil
        }
        defer { inflateEnd(stream) }
        var output: [UInt8] = []
        var (isWhole, isBroken, isOver) = (false, false, false)
        let room = 64 * 1024
        bytes.withUnsafeBufferPointer { input in
            // zlib takes a pointer to mutable bytes, but only reads them.
            stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.pointee.avail_in = UInt32(clamping: input.count)
            while !isOver, output.count <= limit {
                var status = Z_OK
                let chunk = [UInt8](unsafeUninitializedCapacity: room) { buffer, filled in
                    stream.pointee.next_out = buffer.baseAddress
                    stream.pointee.avail_out = UInt32(room)
                    status = inflate(stream, Z_NO_FLUSH)
                    filled = room - Int(stream.pointee.avail_out)
                }
                output += chunk
                if status == Z_STREAM_END, stream.pointee.avail_in > 0 {
                    // Another member follows (RFC 1952 2.2).
                    status = inflateReset(stream)
                }
                isWhole = status == Z_STREAM_END
                // Z_BUF_ERROR: the bytes end within the stream.
                isBroken = status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR
                isOver = status != Z_OK
            }
        }
        guard !isBroken else { return nil }
        isWhole = isWhole && output.count <= limit
        return Plain(bytes: output.count > limit ? Array(output.prefix(limit)) : output, isWhole: isWhole)
    }
}
