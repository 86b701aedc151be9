/// How far a transfer is, for people to look at.
public struct ProgressReport: Sendable, Hashable {
    /// Bytes moved so far.
    public let bytes: UInt64
    /// How many there will be; `nil` where that is not known.
    public let total: UInt64?
    /// Over the last seconds; 0 until it can be told.
    public let bytesPerSecond: Double
    /// Until the end, at this rate; `nil` where total or rate are not known.
    public let timeLeft: Duration?

    /// 0...1; `nil` where the total is not known.
    public var fraction: Double? {
        total.map { $0 == 0 ? 1 : min(1, Double(bytes) / Double($0)) }
    }
}

/// Turns counts at moments into rates. Pure.
struct ProgressMeter {
    /// A rate over so much time bears a burst and still follows a change.
    static let window = Duration.seconds(5)

    private var samples: [(moment: Duration, bytes: UInt64)]
    private var last: ProgressReport?

    init(start: Duration) {
        samples = [(start, 0)]
    }

    /// What is there in the beginning has not moved now.
    mutating func began(with bytes: UInt64, at moment: Duration) {
        if last == nil { samples = [(moment, bytes)] }
    }

    /// Another transfer begins.
    mutating func restarted(at moment: Duration) {
        self = ProgressMeter(start: moment)
    }

    /// `nil` where nothing has changed. Counts that go back are taken for a new beginning.
    mutating func moved(_ bytes: UInt64, of total: UInt64?, at moment: Duration) -> ProgressReport? {
        if let last, last.bytes == bytes, last.total == total { return nil }
        if let last, bytes < last.bytes { restarted(at: moment) }
        samples.append((moment, bytes))
        // One sample from before the window stays, so that the rate spans all of it.
        let first = samples.lastIndex { moment - $0.moment >= Self.window } ?? 0
        samples.removeFirst(first)
        let span = moment - samples[0].moment
        let rate = span > .zero ? Double(bytes - samples[0].bytes) / (span / .seconds(1)) : 0
        let report = ProgressReport(
            bytes: bytes, total: total, bytesPerSecond: rate, timeLeft: Self.timeLeft(bytes, total, rate))
        last = report
        return report
    }

    private static func timeLeft(_ bytes: UInt64, _ total: UInt64?, _ rate: Double) -> Duration? {
        guard let total else { return nil }
        guard bytes < total else { return .zero }
        let seconds = Double(total - bytes) / rate
        // A rate of next to nothing gives a time that no Duration holds.
        guard seconds.isFinite, seconds < 1e9 else { return nil }
        return .seconds(seconds)
    }
}
