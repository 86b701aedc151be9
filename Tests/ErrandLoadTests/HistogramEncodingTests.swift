import ErrandLoad
import ErrandTesting
import FoundationEssentials
import Testing

/// HdrHistogram's encoding V2. The golden bytes are those of PyPI's `hdrhistogram` 0.10.8.
@Suite(.timeLimit(.minutes(20))) struct HistogramEncodingTests {
    private static let values: [(value: UInt64, count: UInt64)] = [
        (0, 2), (1, 1), (3, 5), (2047, 1), (2048, 7), (2050, 300), (1_000_000, 70_000), (1_000_000_000, 1),
    ]
    private static let hex =
        "1c8493130000001400000000000000030000000000000001000000003fffffff3ff0000000000000"
        + "0402010af51f020ed804bd8e01e0c508a19f0102"
    private static let base64 =
        "HISTFAAAADV4nJNpmSzMwMAgwgABzFCaEUTY////3/4DRICFiZHrqzwT3w2WvX2MD45yLJzPyAQACn4MFw=="

    /// A million zeros.
    private static let bomb =
        "HISTFAAAA9942u3BAQEAAACCIP+vbkhAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAArwZDIQAB"

    private var sample: LatencyHistogram {
        var histogram = LatencyHistogram()
        for (value, count) in Self.values { histogram.record(value, count: count) }
        return histogram
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private func bytes(_ hex: String) throws -> [UInt8] {
        let digits = Array(hex)
        return try stride(from: 0, to: digits.count, by: 2).map {
            try #require(UInt8(String(digits[$0...$0 + 1]), radix: 16))
        }
    }

    @Test func theBytesAreThoseOfThePythonLibrary() {
        #expect(hex(sample.encoded) == Self.hex)
        #expect(
            hex(LatencyHistogram().encoded)
                == "1c849313000000000000000000000003000000000000000100000000000007ff3ff0000000000000")
        var largest = LatencyHistogram()
        largest.record(1 << 62, count: (1 << 53) - 1)
        #expect(
            hex(largest.encoded)
                == "1c8493130000000b000000000000000300000000000000017fffffffffffffff3ff0000000000000ffcf06feffffffffffff1f"
        )
    }

    @Test func theBytesOfThePythonLibraryAreRead() throws {
        #expect(try LatencyHistogram(base64: Self.base64) == sample)
        #expect(try LatencyHistogram(encoded: bytes(Self.hex)) == sample)
        #expect(try LatencyHistogram(base64: sample.base64) == sample)
        #expect(try LatencyHistogram(encoded: sample.compressed) == sample)
        #expect(try LatencyHistogram(base64: LatencyHistogram().base64) == LatencyHistogram())
    }

    /// Java's encoder writes a single empty bucket as 0.
    @Test func aZeroIsAnEmptyBucket() throws {
        // Counts 2, empty, 1.
        let head = "1c849313000000030000000000000003000000000000000100000000000007ff3ff0000000000000"
        var expected = LatencyHistogram()
        expected.record(0, count: 2)
        expected.record(2)
        #expect(try LatencyHistogram(encoded: bytes(head + "040002")) == expected)
        #expect(try LatencyHistogram(encoded: bytes(head + "040102")) == expected)
    }

    /// The plain, the compact and the encoded form have the same values and counts.
    @Test func randomHistogramsAreReadBack() throws {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<20 {
            var histogram = LatencyHistogram()
            for _ in 0..<Int.random(in: 0...50, using: &random) {
                let value =
                    UInt64.random(in: 0...UInt64.max, using: &random) >> UInt64.random(in: 2...63, using: &random)
                histogram.record(value, count: UInt64.random(in: 1...1 << 40, using: &random))
            }
            let compact = CompactHistogram(histogram)
            #expect(try CompactHistogram(base64: compact.base64) == compact)
            #expect(try LatencyHistogram(encoded: histogram.encoded) == histogram)
            #expect(compact.count == histogram.count && compact.isEmpty == (histogram.count == 0))
            #expect(compact.values == histogram.counts.map(\.value) && compact.counts == histogram.counts.map(\.count))
            var twice = compact
            twice.add(compact)
            #expect(twice.values == compact.values && twice.counts == compact.counts.map { 2 * $0 })
            #expect(abs(compact.mean - histogram.mean) <= histogram.mean * 1e-9)
            for percentile in [0, 25, 50, 99, 99.9] where histogram.count > 0 {
                let exact = histogram.value(at: percentile)
                let value = compact.value(at: percentile)
                #expect(value >= exact && Double(value - exact) <= Double(exact) * 0.001 + 1)
            }
        }
    }

    /// The sum of the values does not fit 64 bits: HdrHistogram's own iterator traps.
    @Test func longTimesOfManyRequests() throws {
        var histogram = LatencyHistogram()
        histogram.record(UInt64.max, count: 1 << 40)
        histogram.record(5, count: 3)
        #expect(histogram.counts.map(\.count) == [3, 1 << 40])
        #expect(histogram.mean > 4e18 && histogram.standardDeviation > 0)
        #expect(try LatencyHistogram(encoded: histogram.encoded).count == histogram.count)
    }

    @Test func malformedTextHasItsReason() throws {
        func reason(_ hex: String) throws -> HistogramEncodingError? {
            let bytes = try bytes(hex)
            do throws(HistogramEncodingError) {
                _ = try LatencyHistogram(encoded: bytes)
                return nil
            } catch {
                return error
            }
        }
        let settings = "0000000000000003000000000000000100000000000007ff3ff0000000000000"
        #expect(throws: HistogramEncodingError.base64) { try LatencyHistogram(base64: "no Base64!") }
        #expect(try reason("") == .truncated)
        #expect(try reason("1c8493130000") == .truncated)
        #expect(try reason("1c84930100000000" + settings) == .cookie(0x1C84_9301))
        #expect(try reason("1c84931300000001" + settings) == .length)
        #expect(try reason("1c84931300000001" + settings + "82") == .truncated)
        #expect(
            try reason("1c849313000000000000000000000002000000000000000100000000000007ff3ff0000000000000") == .settings)
        // A run of 2^62 empty buckets, then one bucket too many, then a count of 2^54.
        #expect(try reason("1c84931300000009" + settings + "ffffffffffffffff7f") == .counts)
        #expect(try reason("1c84931300000004" + settings + "ffdf0602") == .counts)
        #expect(try reason("1c84931300000008" + settings + "8080808080808040") == .counts)
        #expect(try reason("1c84931400000002" + "789c") == .compression)
        #expect(try reason("1c84931400000003" + "789c") == .length)
    }

    /// A megabyte of zeros in a few bytes is longer than any histogram.
    @Test func aDecompressionBombIsRefused() throws {
        var zeros = LatencyHistogram()
        zeros.record(1)
        // A compressed stream with more behind its end is refused as well.
        let extra = zeros.compressed + [0]
        var header = Array(extra.prefix(8))
        header[7] = UInt8(extra.count - 8)
        #expect(throws: HistogramEncodingError.compression) {
            try LatencyHistogram(encoded: header + extra.dropFirst(8))
        }
        let bomb = try #require(Data(base64Encoded: Self.bomb))
        #expect(throws: HistogramEncodingError.compression) { try LatencyHistogram(encoded: Array(bomb)) }
    }

    /// Whatever the bytes: an error or a histogram of at most 2^53, no trap.
    @Test func mutatedBytesDoNotTrap() throws {
        var random = SeededGenerator(seed: 11)
        let originals = [sample.encoded, sample.compressed]
        var read = 0
        for round in 0..<4000 {
            var bytes = originals[round % 2]
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                switch Int.random(in: 0...3, using: &random) {
                case 0 where !bytes.isEmpty: bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
                case 1: bytes.append(UInt8.random(in: 0...255, using: &random))
                default:
                    guard let index = bytes.indices.randomElement(using: &random) else { continue }
                    bytes[index] = UInt8.random(in: 0...255, using: &random)
                }
            }
            guard let compact = try? CompactHistogram(base64: Data(bytes).base64EncodedString()) else { continue }
            read += 1
            #expect(compact.count <= 1 << 53)
            // The large form takes long without optimization.
            guard read.isMultiple(of: 20) else { continue }
            let histogram = compact.histogram
            #expect(histogram.count == compact.count)
            _ = (histogram.counts, histogram.mean, histogram.value(at: 99))
        }
        // Some mutations hit a count only.
        #expect(read > 0)
    }
}
