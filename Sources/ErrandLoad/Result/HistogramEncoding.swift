import CZlib
import FoundationEssentials

/// HdrHistogram's encoding V2: a header, then the counts from the smallest bucket as ZigZag LEB128, with a negative number
/// for a run of empty buckets (HdrHistogram `AbstractHistogram.encodeIntoByteBuffer`). Compressed: another header, and
/// the same in zlib's format.
enum HistogramEncoding {
    /// The word size (0xF0) is 1 in both, which means LEB128.
    static let plainCookie: UInt32 = 0x1C84_9313
    static let compressedCookie: UInt32 = 0x1C84_9314
    private static let headerLength = 40
    /// The largest sum of the counts of a histogram that is read, so that no sum of some thousand histograms overflows.
    static let maximumCount: UInt64 = 1 << 53
    /// The longest plain encoding: 9 bytes for each bucket.
    private static let maximumLength = headerLength + 9 * HistogramLayout.count

    static func plain(_ histogram: CompactHistogram) -> [UInt8] {
        var counts: [UInt8] = []
        var next = 0
        let buckets = histogram.buckets
        for (value, count) in buckets {
            let index = HistogramLayout.index(of: value)
            // A run of one empty bucket is -1, as in the encoders in C and Python; the encoder in Java writes 0.
            if index > next { appendCount(Int64(next - index), to: &counts) }
            appendCount(Int64(clamping: count), to: &counts)
            next = index + 1
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(headerLength + counts.count)
        append(plainCookie, to: &bytes)
        append(UInt32(counts.count), to: &bytes)
        append(UInt32(0), to: &bytes)  // normalizing index offset
        append(UInt32(3), to: &bytes)  // significant digits
        append(UInt64(1), to: &bytes)  // lowest discernible value
        append(HistogramLayout.highestTrackable(buckets.last?.value ?? 0), to: &bytes)
        append(Double(1).bitPattern, to: &bytes)  // integer to double conversion ratio
        return bytes + counts
    }

    /// The compressed encoding, or the plain one if there is no memory for zlib.
    static func compressed(_ histogram: CompactHistogram) -> [UInt8] {
        let plain = plain(histogram)
        let room = Int(compressBound(UInt(plain.count)))
        let packed = [UInt8](unsafeUninitializedCapacity: room) { buffer, filled in
            var length = UInt(room)
            let status = compress2(
                buffer.baseAddress, &length, plain, UInt(plain.count), Z_DEFAULT_COMPRESSION)
            filled = status == Z_OK ? Int(length) : 0
        }
        guard !packed.isEmpty else { return plain }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(8 + packed.count)
        append(compressedCookie, to: &bytes)
        append(UInt32(packed.count), to: &bytes)
        return bytes + packed
    }

    /// Reads either encoding.
    static func histogram(_ bytes: [UInt8]) throws(HistogramEncodingError) -> CompactHistogram {
        var reader = Reader(bytes)
        let cookie = try reader.number(UInt32.self)
        // The word size of older writers differs (0xF0).
        guard cookie & ~0xF0 == compressedCookie & ~0xF0 else { return try plainHistogram(bytes) }
        let length = try reader.number(UInt32.self)
        guard Int(length) == reader.left else { throw .length }
        return try plainHistogram(try inflated(Array(bytes[reader.index...])))
    }

    private static func plainHistogram(_ bytes: [UInt8]) throws(HistogramEncodingError) -> CompactHistogram {
        var reader = Reader(bytes)
        let cookie = try reader.number(UInt32.self)
        guard cookie == plainCookie else { throw .cookie(cookie) }
        let length = try reader.number(UInt32.self)
        let offset = try reader.number(UInt32.self)
        let digits = try reader.number(UInt32.self)
        let lowest = try reader.number(UInt64.self)
        let highest = try reader.number(UInt64.self)
        let ratio = try reader.number(UInt64.self)
        guard offset == 0, digits == 3, lowest == 1, highest >= 2, ratio == Double(1).bitPattern else {
            throw .settings
        }
        guard Int(length) == reader.left else { throw .length }
        var values: [UInt64] = []
        var counts: [UInt64] = []
        var index = 0
        var sum: UInt64 = 0
        while reader.left > 0 {
            let number = try reader.zigZag()
            guard number > 0 else {
                // 0 is one empty bucket. A run that ends beyond the last bucket is as malformed as a count there.
                let run = number == 0 ? 1 : number.magnitude
                guard run <= UInt64(HistogramLayout.count - index) else { throw .counts }
                index += Int(run)
                continue
            }
            guard index < HistogramLayout.count, number.magnitude <= maximumCount - sum else { throw .counts }
            sum += number.magnitude
            values.append(HistogramLayout.highest(at: index))
            counts.append(number.magnitude)
            index += 1
        }
        return CompactHistogram(values: values, counts: counts)
    }

    private static func inflated(_ bytes: [UInt8]) throws(HistogramEncodingError) -> [UInt8] {
        var isWhole = false
        let plain = [UInt8](unsafeUninitializedCapacity: maximumLength) { buffer, filled in
            var length = UInt(maximumLength)
            var taken = UInt(bytes.count)
            let status = uncompress2(buffer.baseAddress, &length, bytes, &taken)
            isWhole = status == Z_OK && taken == UInt(bytes.count)
            filled = isWhole ? Int(length) : 0
        }
        guard isWhole else { throw .compression }
        return plain
    }

    private static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// ZigZag, then LEB128 in at most nine bytes, the last of which has eight bits.
    private static func appendCount(_ count: Int64, to bytes: inout [UInt8]) {
        var rest = UInt64(bitPattern: (count << 1) ^ (count >> 63))
        for _ in 0..<8 {
            if rest < 0x80 { return bytes.append(UInt8(rest)) }
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    private struct Reader {
        let bytes: [UInt8]
        var index = 0
        var left: Int { bytes.count - index }

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
        }

        mutating func number<Number: FixedWidthInteger>(_ type: Number.Type) throws(HistogramEncodingError) -> Number {
            let size = MemoryLayout<Number>.size
            guard left >= size else { throw .truncated }
            defer { index += size }
            return bytes[index..<index + size].reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
        }

        mutating func zigZag() throws(HistogramEncodingError) -> Int64 {
            var number: UInt64 = 0
            for position in 0..<UInt64(9) {
                guard left > 0 else { throw .truncated }
                let byte = UInt64(bytes[index])
                index += 1
                guard position < 8, byte >= 0x80 else {
                    number |= byte << (7 * position)
                    break
                }
                number |= (byte & 0x7F) << (7 * position)
            }
            return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
        }
    }
}

extension LatencyHistogram {
    /// The counts in HdrHistogram's encoding V2. The minimum and the maximum are only as exact as their buckets.
    public var encoded: [UInt8] { HistogramEncoding.plain(CompactHistogram(self)) }
    /// The counts in HdrHistogram's compressed encoding V2, which its tools read.
    public var compressed: [UInt8] { HistogramEncoding.compressed(CompactHistogram(self)) }
    /// ``compressed`` as Base64 (RFC 4648 4): the form of histogram logs.
    public var base64: String { CompactHistogram(self).base64 }

    /// Reads ``encoded`` or ``compressed``. Counts with a sum above 2^53 are refused.
    public init(encoded bytes: [UInt8]) throws(HistogramEncodingError) {
        self = try HistogramEncoding.histogram(bytes).histogram
    }

    /// Reads ``base64``.
    public init(base64 text: String) throws(HistogramEncodingError) {
        self = try CompactHistogram(base64: text).histogram
    }
}

extension CompactHistogram {
    /// As ``LatencyHistogram/base64``.
    public var base64: String { Data(HistogramEncoding.compressed(self)).base64EncodedString() }

    /// As ``LatencyHistogram/init(base64:)``.
    public init(base64 text: String) throws(HistogramEncodingError) {
        guard let bytes = Data(base64Encoded: text) else { throw .base64 }
        self = try HistogramEncoding.histogram(Array(bytes))
    }
}
