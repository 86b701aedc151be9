/// The progress of a transfer, for display.
public struct ProgressReport: Sendable, Hashable {
    /// Bytes moved so far.
    public let bytes: UInt64
    /// The total number of bytes; `nil` if it is not known.
    public let total: UInt64?
    /// The rate over the last seconds; `nil` while it is not known.
    public let bytesPerSecond: Double?
    /// The time until the end at this rate; `nil` if the total or the rate is not known.
    public let timeLeft: Duration?

    /// The fraction done, 0...1; `nil` if the total is not known.
    public var fraction: Double? {
        total.map { $0 == 0 ? 1 : min(1, Double(bytes) / Double($0)) }
    }
}

/// Computes rates from byte counts over time. Pure.
struct ProgressMeter {
    /// A rate over this time smooths bursts and still follows changes.
    static let window = Duration.seconds(5)

    private var samples: [(moment: Duration, bytes: UInt64)]
    private var last: ProgressReport?

    init(start: Duration) {
        samples = [(start, 0)]
    }

    /// Bytes that exist at the beginning were not moved by this transfer.
    mutating func began(with bytes: UInt64, at moment: Duration) {
        if last == nil { samples = [(moment, bytes)] }
    }

    /// Another transfer of the request begins.
    mutating func restarted(at moment: Duration) {
        self = ProgressMeter(start: moment)
    }

    /// `nil` if nothing has changed. A decreasing count is a new beginning.
    mutating func moved(_ bytes: UInt64, of total: UInt64?, at moment: Duration) -> ProgressReport? {
        if let last, last.bytes == bytes, last.total == total { return nil }
        if let last, bytes < last.bytes { restarted(at: moment) }
        samples.append((moment, bytes))
        // One sample from before the window stays, so that the rate spans all of it.
        let first = samples.lastIndex { moment - $0.moment >= Self.window } ?? 0
        samples.removeFirst(first)
        let span = moment - samples[0].moment
        let rate = span > .zero ? Double(bytes - samples[0].bytes) / (span / .seconds(1)) : nil
        let report = ProgressReport(
            bytes: bytes, total: total, bytesPerSecond: rate, timeLeft: Self.timeLeft(bytes, total, rate))
        last = report
        return report
    }

    private static func timeLeft(_ bytes: UInt64, _ total: UInt64?, _ rate: Double?) -> Duration? {
        guard let total else { return nil }
        guard bytes < total else { return .zero }
        guard let rate else { return nil }
        let seconds = Double(total - bytes) / rate
        // A very low rate gives a time that no Duration can hold.
        guard seconds.isFinite, seconds < 1e9 else { return nil }
        return .seconds(seconds)
    }
}
