/// How requests are distributed over endpoints, and which endpoints are left out. Numbers out of range are clamped.
public struct EndpointPolicy: Sendable, Hashable {
    /// How an endpoint is chosen among those that may be used.
    public enum Balancing: Sendable, Hashable {
        /// Two endpoints are drawn by weight, and the one with the lower load is used. The load is the peak EWMA of the
        /// latency times the pending requests, divided by the weight (Finagle `p2c` with `PeakEwma`).
        case powerOfTwo(PeakEWMA)
        /// In turns by weight (nginx's smooth weighted round robin).
        case roundRobin
        /// By the hash of a key, so that a key keeps its endpoint while the list is the same (ketama). Requests without
        /// a key are spread at random.
        case ringHash(RingHash)
    }

    /// The moving average of the latency. It follows a higher latency at once and decays over time.
    public struct PeakEWMA: Sendable, Hashable {
        /// The time in which an old latency loses two thirds of its weight; 10 s by default.
        public let decay: Duration
        /// The latency of an endpoint without a sample; 30 ms by default (Linkerd).
        public let assumed: Duration
        /// A failure counts as at least this latency, so that an endpoint that fails fast is not the fastest; 1 s by
        /// default.
        public let failurePenalty: Duration
        /// A response that asks for fewer requests (a 429, or a failure with `Retry-After`) counts as at least this
        /// latency, so that a server that refuses at once is not the fastest one; 5 s by default (Linkerd).
        public let throttlePenalty: Duration
        /// `Retry-After` of such a response counts as a latency too, up to this time; 60 s by default. 0: `Retry-After`
        /// is ignored.
        public let longestRetryAfter: Duration

        /// Makes the settings.
        public init(
            decay: Duration = .seconds(10), assumed: Duration = .milliseconds(30),
            failurePenalty: Duration = .seconds(1), throttlePenalty: Duration = .seconds(5),
            longestRetryAfter: Duration = .seconds(60)
        ) {
            self.decay = max(decay.clampedWait, .milliseconds(1))
            self.assumed = max(assumed.clampedWait, .microseconds(1))
            self.failurePenalty = failurePenalty.clampedWait
            self.throttlePenalty = throttlePenalty.clampedWait
            self.longestRetryAfter = longestRetryAfter.clampedWait
        }
    }

    /// A ring of hashes.
    public struct RingHash: Sendable, Hashable {
        /// The points of the ring; 1024 by default, 1...65,536. Each endpoint has at least one point.
        public let size: Int
        /// The multiple of its fair share of pending requests that an endpoint may have before its keys go to the next
        /// endpoint of the ring; at least 1, 1.25 by default. `nil`: no bound.
        public let loadBound: Double?

        /// Makes the settings.
        public init(size: Int = 1024, loadBound: Double? = 1.25) {
            self.size = size.clamped(1...65_536)
            self.loadBound = loadBound.map { $0.clamped(1...1000, nan: 1.25) }
        }
    }

    /// How failing endpoints are found (Envoy's outlier detection).
    public struct Outliers: Sendable, Hashable {
        /// An endpoint with this many failures in a row is ejected; 5 by default, 0: never.
        public let consecutiveFailures: Int
        /// A late attempt that another attempt of its request has overtaken (``EndpointLease/lose(after:)``) counts as
        /// a failure if the endpoint has had no success for this time, measured from the beginning of the first such
        /// attempt; 1 s by default. This way an endpoint that never answers is ejected even if no request fails, and a
        /// short pause does not count as a failure.
        public let stallTime: Duration
        /// The comparison of success rates; `nil`: none.
        public let successRate: SuccessRate?
        /// The time between two comparisons; 10 s by default, at least 100 ms.
        public let interval: Duration
        /// The length of a first ejection; 30 s by default. Each further ejection is longer by the same amount.
        public let baseEjection: Duration
        /// The longest ejection, before the jitter is added; 300 s by default.
        public let longestEjection: Duration
        /// The share of an ejection that is added at random, 0...1; 0.1 by default.
        public let jitter: Double
        /// The largest share of the endpoints that may be ejected at a time, 0...1; 0.5 by default. If there are
        /// several endpoints, one may always be ejected, unless the share is 0. A single endpoint is never ejected.
        public let largestShare: Double
        /// If true, no endpoint is ejected, and ``EndpointSet/Counts/wouldEject`` counts instead. False by default.
        public let isDryRun: Bool

        /// Makes the settings.
        public init(
            consecutiveFailures: Int = 5, stallTime: Duration = .seconds(1), successRate: SuccessRate? = SuccessRate(),
            interval: Duration = .seconds(10), baseEjection: Duration = .seconds(30),
            longestEjection: Duration = .seconds(300), jitter: Double = 0.1, largestShare: Double = 0.5,
            isDryRun: Bool = false
        ) {
            self.consecutiveFailures = consecutiveFailures.clamped(0...1_000_000)
            self.stallTime = stallTime.clampedWait
            self.successRate = successRate
            self.interval = max(interval.clampedWait, .milliseconds(100))
            self.baseEjection = max(baseEjection.clampedWait, .milliseconds(1))
            self.longestEjection = max(longestEjection.clampedWait, self.baseEjection)
            self.jitter = jitter.clamped(0...1, nan: 0)
            self.largestShare = largestShare.clamped(0...1, nan: 0.5)
            self.isDryRun = isDryRun
        }
    }

    /// An endpoint is ejected if its success rate is below the mean by more than `factor` standard deviations.
    public struct SuccessRate: Sendable, Hashable {
        /// How many standard deviations; 1.9 by default.
        public let factor: Double
        /// How many endpoints with enough requests a comparison needs; 5 by default.
        public let minimumEndpoints: Int
        /// How many requests in an interval an endpoint needs to be compared; 100 by default.
        public let minimumRequests: Int

        /// Makes the settings.
        public init(factor: Double = 1.9, minimumEndpoints: Int = 5, minimumRequests: Int = 100) {
            self.factor = factor.clamped(0...100, nan: 1.9)
            self.minimumEndpoints = minimumEndpoints.clamped(2...1_000_000)
            self.minimumRequests = minimumRequests.clamped(1...1_000_000_000)
        }
    }

    /// The endpoints of your own zone are preferred.
    public struct ZonePreference: Sendable, Hashable {
        /// Your own zone.
        public let zone: String
        /// The share of the zone's endpoints that must be healthy, 0...1; 0.7 by default. Below this share, requests go
        /// to all zones, so that the rest of the zone is not overloaded.
        public let healthyShare: Double

        /// Makes the settings.
        public init(_ zone: String, healthyShare: Double = 0.7) {
            self.zone = zone
            self.healthyShare = healthyShare.clamped(0...1, nan: 0.7)
        }
    }

    /// How an endpoint is chosen; power of two choices by default.
    public let balancing: Balancing
    /// Which endpoints are ejected; `nil`: none.
    public let outliers: Outliers?
    /// If a smaller share of the endpoints is healthy, health is ignored (Envoy's panic threshold); 0.5 by default.
    /// 0: never.
    public let panicThreshold: Double
    /// The preferred zone; `nil`, the default: none.
    public let zonePreference: ZonePreference?

    /// Makes a policy.
    public init(
        _ balancing: Balancing = .powerOfTwo(PeakEWMA()), outliers: Outliers? = Outliers(),
        panicThreshold: Double = 0.5,
        zonePreference: ZonePreference? = nil
    ) {
        self.balancing = balancing
        self.outliers = outliers
        self.panicThreshold = panicThreshold.clamped(0...1, nan: 0.5)
        self.zonePreference = zonePreference
    }
}
