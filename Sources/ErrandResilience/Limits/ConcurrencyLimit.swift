import Synchronization

/// A limit of requests in flight for each key, such as an origin, with a bounded queue (a bulkhead). Any thread.
///
/// ```swift
/// let limit = ConcurrencyLimit(.init(limit: 25))
/// let permit = try await limit.acquire("https://api.test:443", waitingAtMost: .seconds(1))
/// defer { permit.drop() }
/// ...
/// permit.record()
/// ```
///
/// If the limit is reached, a request waits, without blocking a thread. The queue is ordered by priority, then by the
/// end of the wait, then by arrival. If the queue is full, a new request displaces the last waiter if that one has a
/// lower priority. Otherwise the new request is refused.
public final class ConcurrencyLimit: Sendable {
    /// The settings. Numbers out of range are clamped.
    public struct Settings: Sendable, Hashable {
        /// The requests in flight of a key; 25 by default, 1...1,000,000. Ignored with ``adaptive``.
        public let limit: Int
        /// A limit that follows the latency of each key; `nil`, the default: ``limit`` applies.
        public let adaptive: AdaptiveLimit.Settings?
        /// The requests of a key that wait; 100 by default, 0...1,000,000.
        public let queueCapacity: Int
        /// How long a request waits at most; `nil`: as long as the request allows. 30 s by default.
        public let longestWait: Duration?
        /// How many keys' adaptive limits are remembered while the keys are idle; 1024 by default.
        public let keyCapacity: Int
        /// If true, every request is let through, and ``Counts/wouldWait`` and ``Counts/wouldRefuse`` tell what the
        /// limit would have done. False by default.
        public let isDryRun: Bool

        /// Makes the settings.
        public init(
            limit: Int = 25, adaptive: AdaptiveLimit.Settings? = nil, queueCapacity: Int = 100,
            longestWait: Duration? = .seconds(30), keyCapacity: Int = 1024, isDryRun: Bool = false
        ) {
            self.limit = limit.clamped(1...1_000_000)
            self.adaptive = adaptive
            self.queueCapacity = queueCapacity.clamped(0...1_000_000)
            self.longestWait = longestWait.map { $0.clampedWait }
            self.keyCapacity = keyCapacity.clamped(1...1_000_000)
            self.isDryRun = isDryRun
        }

        /// A limit that is not reached: 1,000,000 requests. If a command chooses it (``Command/resilience``), it has no
        /// limit.
        public static let unlimited = Settings(limit: 1_000_000)
    }

    /// What has happened so far, for all keys.
    public struct Counts: Sendable, Hashable {
        /// Permits given out.
        public internal(set) var granted = 0
        /// Requests that had to wait.
        public internal(set) var waited = 0
        /// Requests refused because the queue was full.
        public internal(set) var refused = 0
        /// Waiting requests displaced by one of higher priority.
        public internal(set) var displaced = 0
        /// Requests whose wait ended at its deadline.
        public internal(set) var expired = 0
        /// Requests that were cancelled while they waited.
        public internal(set) var cancelled = 0
        /// Permits that came back without a result.
        public internal(set) var dropped = 0
        /// In a dry run: requests that would have had to wait.
        public internal(set) var wouldWait = 0
        /// In a dry run: requests that would have been refused.
        public internal(set) var wouldRefuse = 0
    }

    typealias Machine = ConcurrencyStateMachine<Waiter>
    struct Waiter: Sendable {
        let continuation: CheckedContinuation<ConcurrencyGrant, any Error>
        let key: String
    }

    /// The settings of every key.
    public let settings: Settings
    private let machine: Mutex<Machine>
    private let stopwatch: Stopwatch
    private let lastNumber = Atomic<UInt64>(0)

    /// Makes a limit. `clock`: a monotonic clock.
    public convenience init(_ settings: Settings = Settings(), clock: any Clock<Duration> = ContinuousClock()) {
        self.init(settings, stopwatch: Stopwatch(clock))
    }

    /// `stopwatch`: the stopwatch of the parts that the limit belongs to. Permits begin with its readings
    /// (``ConcurrencyPermit/begin(now:)``), and a stopwatch that is made later has other readings.
    init(_ settings: Settings, stopwatch: Stopwatch) {
        self.settings = settings
        machine = Mutex(Machine(settings))
        self.stopwatch = stopwatch
    }

    /// Waits for a permit.
    ///
    /// `wait`: the longest wait; `nil`, the default: ``Settings/longestWait`` alone applies. Zero or less: a request
    /// that would have to wait is refused. Throws ``LimitRefusal`` with the reasons `queueFull`, `displaced` and
    /// `waitExpired`, and `CancellationError` at once where the task is cancelled.
    public func acquire(
        _ key: String, priority: Priority = .normal, waitingAtMost wait: Duration? = nil
    ) async throws -> ConcurrencyPermit {
        try Task.checkCancellation()
        let number = lastNumber.add(1, ordering: .relaxed).newValue
        let start = stopwatch.now()
        let span = [wait, settings.longestWait].compactMap { $0 }.min()
        let deadline = span.map { start.clampedTime(plus: $0) }
        let arrival = Machine.Arrival(number: number, key: key, priority: priority, deadline: deadline)
        let grant = try await withTaskCancellationHandler {
            var timer: Task<Void, Never>?
            defer { timer?.cancel() }
            return try await withCheckedThrowingContinuation { continuation in
                timer = register(arrival, Waiter(continuation: continuation, key: key), start: start)
            }
        } onCancel: {
            leave(number, of: key)
        }
        return ConcurrencyPermit(grant, of: self)
    }

    /// Returns a permit if the limit is not reached. Throws ``LimitRefusal`` with the reason `queueFull` otherwise.
    public func acquireNow(_ key: String) throws(LimitRefusal) -> ConcurrencyPermit {
        let now = stopwatch.now()
        guard let grant = machine.withLock({ $0.permitTaken(key, now: now) }) else {
            throw LimitRefusal(.queueFull, key: key)
        }
        return ConcurrencyPermit(grant, of: self)
    }

    /// Returns a permit if the limit is not reached, or in a dry run. Otherwise nothing is counted: the caller waits
    /// next.
    func acquireIfFree(_ key: String) -> ConcurrencyPermit? {
        let now = stopwatch.now()
        let grant = machine.withLock { $0.permitIfFree(key, now: now) }
        return grant.map { ConcurrencyPermit($0, of: self) }
    }

    /// The requests of a key that are in flight.
    public func inFlight(of key: String) -> Int { machine.withLock { $0.inFlight(of: key) } }

    /// The requests of a key that wait.
    public func waiting(of key: String) -> Int { machine.withLock { $0.waiting(of: key).count } }

    /// The present limit of a key.
    public func limit(of key: String) -> Int { machine.withLock { $0.limit(of: key) } }

    /// What has happened so far.
    public var counts: Counts { machine.withLock { $0.counts } }

    /// Returns the timer that ends the wait, if there is one.
    private func register(_ arrival: Machine.Arrival, _ waiter: Waiter, start: Duration) -> Task<Void, Never>? {
        let (answer, ended) = machine.withLock { $0.permitRequested(arrival, by: waiter, now: start) }
        resume(ended)
        switch answer {
        case .granted(let grant): waiter.continuation.resume(returning: grant)
        case .refused(let reason):
            waiter.continuation.resume(throwing: LimitRefusal(reason, key: waiter.key))
        case .waits(let deadline):
            // The task may have been cancelled before the waiter was known.
            if Task.isCancelled { leave(arrival.number, of: arrival.key) }
            guard let deadline else { break }
            return Task {
                // A clock may wake a little early; the waiter would then stay.
                while case let rest = deadline - stopwatch.now(), rest > .zero {
                    guard (try? await stopwatch.sleep(for: min(rest, .longestSleep))) != nil else { return }
                }
                expire(arrival.number, of: arrival.key)
            }
        }
        return nil
    }

    private func leave(_ number: UInt64, of key: String) {
        let waiter = machine.withLock { $0.waiterLeft(number, of: key) }
        waiter?.continuation.resume(throwing: CancellationError())
    }

    private func expire(_ number: UInt64, of key: String) {
        let now = stopwatch.now()
        let waiter = machine.withLock { $0.waitExpired(number, of: key, now: now) }
        waiter?.continuation.resume(throwing: LimitRefusal(.waitExpired, key: key))
    }

    /// The request of a permit waits for something else before it is sent.
    func hold(_ grant: ConcurrencyGrant) -> ConcurrencyGrant {
        machine.withLock { $0.permitHeld(grant) }
    }

    /// The request of a permit is sent now. `now`: a reading of the limit's stopwatch.
    func begin(_ grant: ConcurrencyGrant, now: Duration) -> ConcurrencyGrant {
        machine.withLock { $0.permitUsed(grant, now: now) }
    }

    func take(back grant: ConcurrencyGrant, _ use: (Duration) -> Machine.Use) {
        let now = stopwatch.now()
        let use = use(max(.zero, now - grant.time))
        resume(machine.withLock { $0.permitReturned(grant, as: use, now: now) })
    }

    private func resume(_ ended: [Machine.Resumption]) {
        for resumption in ended {
            let waiter = resumption.waiter
            switch resumption.result {
            case .success(let grant): waiter.continuation.resume(returning: grant)
            case .failure(let failure):
                waiter.continuation.resume(throwing: LimitRefusal(failure.reason, key: waiter.key))
            }
        }
    }
}
