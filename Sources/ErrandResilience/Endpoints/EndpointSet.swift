import Synchronization

/// The endpoints of a service: chooses one for each request, and leaves out those that fail. Any thread.
///
/// ```swift
/// let set = EndpointSet([try Endpoint("https://a.test"), try Endpoint("https://b.test", weight: 2)])
/// let lease = try set.pick()
/// ... send the request to lease.endpoint.url ...
/// lease.succeed()
/// ```
///
/// Health is passive: the results of requests decide. ``EndpointPolicy/Outliers`` has the rules of ejection, and
/// ``EndpointPolicy`` the rules by which an endpoint is chosen.
public final class EndpointSet: Sendable {
    /// What has happened so far.
    public struct Counts: Sendable, Hashable {
        /// Endpoints chosen.
        public internal(set) var picks = 0
        /// Choices between two endpoints without pending requests. They say little about the load.
        public internal(set) var idlePicks = 0
        /// Choices of an endpoint that the request had already tried.
        public internal(set) var repeats = 0
        /// Choices for which health was ignored.
        public internal(set) var panics = 0
        /// Choices among all zones, although there is a preferred one.
        public internal(set) var crossZone = 0
        /// Requests for which no endpoint was chosen.
        public internal(set) var refused = 0
        /// Responses with 429: the endpoint works, and asks for fewer requests.
        public internal(set) var throttled = 0
        /// Attempts that another attempt of their request has overtaken.
        public internal(set) var lost = 0
        /// Ejections.
        public internal(set) var ejections = 0
        /// Ejections that were left out because too many endpoints were ejected already.
        public internal(set) var sparedEjections = 0
        /// Endpoints that became healthy after an ejection.
        public internal(set) var returns = 0
        /// In a dry run: ejections that would have happened.
        public internal(set) var wouldEject = 0
        /// In a client: lists that the source (DNS or a closure, ``EndpointSource``) has returned.
        public internal(set) var refreshes = 0
        /// In a client: refreshes for which the source failed. The last list then stays in use. If the source fails for
        /// a long time, requests may go to addresses that are dead.
        public internal(set) var failedRefreshes = 0
    }

    /// The health of an endpoint.
    public enum Health: String, Sendable, Hashable, CaseIterable {
        /// Is used.
        case healthy
        /// Is not used for a time.
        case ejected
        /// Is tried with one request.
        case probing
    }

    /// An endpoint with its present state.
    public struct Status: Sendable, Hashable {
        /// The endpoint.
        public let endpoint: Endpoint
        /// Whether the endpoint is used.
        public let health: Health
        /// The requests that have not ended. A streamed response counts until its end.
        public let pending: Int
        /// The ejections so far.
        public let ejections: Int
    }

    private let machine: Mutex<EndpointStateMachine>
    private let policy: EndpointPolicy
    private let stopwatch: Stopwatch
    private let random: @Sendable () -> Double

    /// Makes a set. `clock`: a monotonic clock.
    public convenience init(
        _ endpoints: [Endpoint], policy: EndpointPolicy = EndpointPolicy(),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.init(endpoints, policy: policy, clock: clock, random: { .random(in: 0..<1) })
    }

    /// `random`: a number from 0 up to 1.
    package init(
        _ endpoints: [Endpoint], policy: EndpointPolicy, clock: any Clock<Duration>,
        random: @escaping @Sendable () -> Double
    ) {
        machine = Mutex(EndpointStateMachine(policy, endpoints))
        self.policy = policy
        stopwatch = Stopwatch(clock)
        self.random = random
    }

    /// Chooses an endpoint.
    ///
    /// `key`: with ``EndpointPolicy/Balancing/ringHash(_:)``, requests with the same key go to the same endpoint.
    /// `tried`: the URLs (``Endpoint/url``) of the endpoints that earlier attempts of the request had. Another endpoint
    /// is chosen if one may be used. Otherwise a tried one is chosen again, unless `allowsRepeats` is false.
    ///
    /// Throws ``EndpointRefusal``.
    public func pick(
        key: String? = nil, excluding tried: Set<String> = [], allowsRepeats: Bool = true
    ) throws(EndpointRefusal) -> EndpointLease {
        let now = stopwatch.now()
        let draw = EndpointStateMachine.Draw(random(), random())
        let result = machine.withLock {
            $0.endpointRequested(key: key, excluding: tried, allowsRepeats: allowsRepeats, draw: draw, now: now)
        }
        return EndpointLease(try result.get(), of: self)
    }

    /// Replaces the list. Endpoints whose URL stays in the list keep their health and their latency.
    public func replace(_ endpoints: [Endpoint]) {
        let list = EndpointList(endpoints, policy)
        machine.withLock { $0.endpointsReplaced(list) }
    }

    /// The source of the list has answered.
    func refresh(_ endpoints: [Endpoint]) {
        let list = EndpointList(endpoints, policy)
        machine.withLock { machine in
            machine.counts.refreshes += 1
            machine.endpointsReplaced(list)
        }
    }

    /// The source of the list has failed, and the list stays.
    func refreshFailed() {
        machine.withLock { $0.counts.failedRefreshes += 1 }
    }

    /// The endpoints in the order of the list.
    public var statuses: [Status] {
        let now = stopwatch.now()
        let draw = random()
        let members = machine.withLock { machine in
            machine.timePassed(now, draw)
            return machine.members
        }
        return members.map { member in
            let health: Health =
                switch member.health {
                case .healthy: .healthy
                case .ejected: .ejected
                case .returning, .probing: .probing
                }
            return Status(endpoint: member.endpoint, health: health, pending: member.pending, ejections: member.era)
        }
    }

    /// What has happened so far.
    public var counts: Counts { machine.withLock { $0.counts } }

    /// The request has ended. `outcome`: makes the outcome from the time since the choice.
    func take(back pick: EndpointStateMachine.Pick, _ outcome: (Duration) -> EndpointStateMachine.Outcome) {
        let now = stopwatch.now()
        let outcome = outcome(max(.zero, now - pick.time))
        let draw = EndpointStateMachine.Draw(random(), random())
        machine.withLock { $0.requestEnded(pick, outcome, draw: draw, now: now) }
    }

    /// The endpoint has answered, and the request goes on.
    func take(voteOf pick: EndpointStateMachine.Pick, _ outcome: (Duration) -> EndpointStateMachine.Outcome) {
        let now = stopwatch.now()
        let outcome = outcome(max(.zero, now - pick.time))
        let draw = EndpointStateMachine.Draw(random(), random())
        machine.withLock { $0.requestAnswered(pick, outcome, draw: draw, now: now) }
    }
}
