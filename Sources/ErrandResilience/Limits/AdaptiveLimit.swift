/// A limit of requests in flight that follows the latency of the server. A pure value without a clock.
///
/// Samples are gathered in a window. At the end of a window with enough samples the algorithm sees the mean latency,
/// the highest number of requests in flight, and whether a request was dropped. Source: Netflix concurrency-limits
/// (`WindowedLimit`, `AIMDLimit`, `Gradient2Limit`).
public struct AdaptiveLimit: Sendable, Hashable {
    /// How a limit follows the samples.
    public enum Algorithm: Sendable, Hashable {
        /// Additive increase, multiplicative decrease.
        case aimd(AIMD)
        /// The ratio of the latency over a long time to the present latency.
        case gradient2(Gradient2)
    }

    /// `x backoff` after a drop or a latency above `timeout`; otherwise 1 more, where at least half of the limit is in
    /// use.
    public struct AIMD: Sendable, Hashable {
        /// The factor after a drop, 0.5...0.99; 0.9 by default.
        public let backoff: Double
        /// The latency that counts as a drop; 5 s by default.
        public let timeout: Duration

        /// Makes the settings. Numbers out of range are clamped.
        public init(backoff: Double = 0.9, timeout: Duration = .seconds(5)) {
            self.backoff = backoff.clamped(0.5...0.99, nan: 0.9)
            self.timeout = timeout.clampedWait
        }
    }

    /// `limit x gradient + queue`, smoothed. The gradient is `tolerance x long latency / short latency` within 0.5...1.
    /// The limit does not grow while less than half of it is in use. A drop is no sample of the latency; it shrinks the
    /// limit, since a server that refuses fast has a low latency.
    public struct Gradient2: Sendable, Hashable {
        /// By how many requests the limit may grow in a window, as room for a queue at the server; 4 by default.
        public let queueSize: Int
        /// The factor by which the latency may grow without harm, at least 1; 1.5 by default.
        public let tolerance: Double
        /// The weight of a new limit against the old one, above 0 and at most 1; 0.2 by default.
        public let smoothing: Double
        /// The length of the long average in windows; 600 by default.
        public let longWindow: Int
        /// The factor after a window with a drop, 0.5...1; 0.9 by default. 1: drops do not count, as in Netflix's code.
        public let dropBackoff: Double

        /// Makes the settings. Numbers out of range are clamped.
        public init(
            queueSize: Int = 4, tolerance: Double = 1.5, smoothing: Double = 0.2, longWindow: Int = 600,
            dropBackoff: Double = 0.9
        ) {
            self.dropBackoff = dropBackoff.clamped(0.5...1, nan: 0.9)
            self.queueSize = queueSize.clamped(0...10_000)
            self.tolerance = tolerance.clamped(1...100, nan: 1.5)
            self.smoothing = smoothing.clamped(0.01...1, nan: 0.2)
            self.longWindow = longWindow.clamped(1...1_000_000)
        }
    }

    /// The settings of a limit.
    public struct Settings: Sendable, Hashable {
        /// The algorithm; ``Gradient2`` by default.
        public let algorithm: Algorithm
        /// The limit at the start; 20 by default.
        public let initial: Int
        /// The lowest and the highest limit; 20...200 by default.
        public let bounds: ClosedRange<Int>
        /// The shortest window; 1 s by default, at least 100 ms.
        public let window: Duration
        /// How many samples a window has at least; 10 by default.
        public let minimumSamples: Int

        /// Makes the settings. Numbers out of range are clamped: limits to 1...1,000,000.
        public init(
            _ algorithm: Algorithm = .gradient2(Gradient2()), initial: Int = 20, bounds: ClosedRange<Int> = 20...200,
            window: Duration = .seconds(1), minimumSamples: Int = 10
        ) {
            let all = 1...1_000_000
            self.algorithm = algorithm
            self.bounds = bounds.lowerBound.clamped(all)...bounds.upperBound.clamped(all)
            self.initial = initial.clamped(self.bounds)
            self.window = max(window.clampedWait, .milliseconds(100))
            self.minimumSamples = minimumSamples.clamped(1...1_000_000)
        }
    }

    /// The sums over the samples of a window.
    private struct Window: Sendable, Hashable {
        var start: Duration?
        var samples = 0
        var latencySum = 0.0
        var mostInFlight = 0
        var wasDropped = false
    }

    /// The settings that the limit was made with.
    public let settings: Settings
    /// The limit before rounding.
    private(set) var estimate: Double
    private var window = Window()
    private var average: LongAverage

    /// Makes a limit at its initial value.
    public init(_ settings: Settings = Settings()) {
        self.settings = settings
        estimate = Double(settings.initial)
        let length = if case .gradient2(let gradient) = settings.algorithm { gradient.longWindow } else { 1 }
        average = LongAverage(length: length)
    }

    /// The requests that may be in flight.
    public var limit: Int { Int(estimate).clamped(settings.bounds) }

    /// A request has ended after `latency`. `inFlight`: the requests in flight when this one was sent, including
    /// itself. `isDropped`: the server refused the request for overload, or the request timed out. Do not report
    /// requests that the caller cancelled. Returns whether the limit may have changed.
    @discardableResult
    public mutating func requestEnded(
        latency: Duration, inFlight: Int, isDropped: Bool = false, now: Duration
    ) -> Bool {
        let now = now.clampedTime
        let start = window.start ?? now
        window.start = start
        if isDropped {
            window.wasDropped = true
        } else {
            // A latency of 0 would make the gradient infinite.
            window.latencySum += max(1e-9, latency.clampedWait.inSeconds)
            window.samples += 1
        }
        window.mostInFlight = max(window.mostInFlight, inFlight.clamped(0...1_000_000_000))
        let isFull = window.samples >= settings.minimumSamples || window.wasDropped
        guard isFull, now - start >= settings.window else { return false }
        let ended = window
        window = Window()
        update(with: ended)
        return true
    }

    private mutating func update(with window: Window) {
        let bounds = Double(settings.bounds.lowerBound)...Double(settings.bounds.upperBound)
        let latency: Double? = window.samples > 0 ? window.latencySum / Double(window.samples) : nil
        switch settings.algorithm {
        case .aimd(let aimd):
            if window.wasDropped || latency.map({ $0 > aimd.timeout.inSeconds }) ?? false {
                estimate *= aimd.backoff
            } else if Double(window.mostInFlight) * 2 >= estimate {
                estimate += 1
            }
        case .gradient2(let gradient):
            if let latency { average.add(latency) }
            guard !window.wasDropped || gradient.dropBackoff == 1 else {
                estimate *= gradient.dropBackoff
                break
            }
            guard let latency else { break }
            let long = average.value
            // A long latency that is far above the present one is from a time of overload: it decays faster.
            if long / latency > 2 { average.decay(0.95) }
            guard Double(window.mostInFlight) >= estimate / 2 else { break }
            let slope = max(0.5, min(1, gradient.tolerance * long / latency))
            let next = estimate * slope + Double(gradient.queueSize)
            estimate = estimate * (1 - gradient.smoothing) + next * gradient.smoothing
        }
        estimate = estimate.clamped(bounds, nan: Double(settings.initial))
    }
}

/// An exponential moving average that starts as the plain mean of its first ten values (Netflix `ExpAvgMeasurement`).
private struct LongAverage: Sendable, Hashable {
    private let weight: Double
    private var count = 0
    private var sum = 0.0
    private(set) var value = 0.0

    init(length: Int) {
        weight = 2 / (Double(length) + 1)
    }

    mutating func add(_ sample: Double) {
        if count < 10 {
            count += 1
            sum += sample
            value = sum / Double(count)
        } else {
            value = value * (1 - weight) + sample * weight
        }
    }

    mutating func decay(_ factor: Double) {
        value *= factor
    }
}
