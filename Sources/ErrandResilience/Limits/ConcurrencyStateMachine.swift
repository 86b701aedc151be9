/// Requests in flight by key, and the queue of those that wait (a bulkhead).
///
/// A lane belongs to a key. A waiter leaves its queue once: with a permit, displaced, expired or cancelled. A lane has
/// waiters only while its limit is reached. The queue is ordered by priority, then by deadline, then by arrival.
///
/// A key without a request in flight has no lane. The adaptive limits of the keys that were in use last are remembered.
struct ConcurrencyStateMachine<Waiter: Sendable>: ~Copyable {
    typealias Settings = ConcurrencyLimit.Settings
    typealias Reason = LimitRefusal.Reason
    typealias Grant = ConcurrencyGrant

    /// A request for a permit. `number` increases with each arrival.
    struct Arrival: Sendable {
        let number: UInt64
        let key: String
        var priority = Priority.normal
        /// `nil`: waits without an end.
        var deadline: Duration?
    }

    struct Waiting: Sendable {
        let number: UInt64
        let rank: Int
        let deadline: Duration?
        let waiter: Waiter

        func isBefore(_ other: Waiting) -> Bool {
            if rank != other.rank { return rank > other.rank }
            switch (deadline, other.deadline) {
            case (let mine?, let others?) where mine != others: return mine < others
            case (.some, nil): return true
            case (nil, .some): return false
            default: return number < other.number
            }
        }

        func isExpired(at now: Duration) -> Bool { deadline.map { $0 <= now } ?? false }
    }

    enum State: Sendable {
        /// Requests are in flight, and none waits.
        case busy(inFlight: Int)
        /// The limit is reached, and requests wait. The first in the order is the last of the array.
        case queueing(inFlight: Int, [Waiting])
    }

    private struct Lane {
        var state: State
        var adaptive: AdaptiveLimit?
        /// The places of requests that wait for something else.
        var held = 0
    }

    /// The answer to an arrival.
    enum Answer: Sendable {
        case granted(Grant)
        /// The waiter waits, at most until this time.
        case waits(until: Duration?)
        case refused(Reason)
    }

    /// A waiter whose wait has ended.
    struct Resumption: Sendable {
        let waiter: Waiter
        let result: Result<Grant, Failure>

        struct Failure: Error, Hashable {
            let reason: Reason
        }
    }

    /// How a permit was given back.
    enum Use: Sendable, Hashable {
        /// The request ended after this time.
        case recorded(Duration)
        /// The server refused the request for overload, or did not answer in time.
        case overloaded(Duration)
        /// The request says nothing about the server, for example because it was cancelled.
        case dropped
    }

    let settings: Settings
    private var lanes: [String: Lane] = [:]
    /// The adaptive limits of keys without a lane.
    private var idle: RecencyMap<String, AdaptiveLimit>
    private(set) var counts = ConcurrencyLimit.Counts()

    init(_ settings: Settings) {
        self.settings = settings
        idle = RecencyMap(capacity: settings.keyCapacity, idleTime: .longestSleep)
    }

    // MARK: Reading

    func limit(of key: String) -> Int {
        let adaptive = lanes[key]?.adaptive ?? idle.peek(key)
        return adaptive?.limit ?? settings.adaptive?.initial ?? settings.limit
    }

    func inFlight(of key: String) -> Int {
        switch lanes[key]?.state {
        case nil: 0
        case .busy(let inFlight)?, .queueing(let inFlight, _)?: inFlight
        }
    }

    func waiting(of key: String) -> [UInt64] {
        if case .queueing(_, let queue)? = lanes[key]?.state { queue.reversed().map(\.number) } else { [] }
    }

    var keyCount: Int { lanes.count + idle.count }

    // MARK: Events

    /// A request needs a permit. `waiter` is kept only where the answer is `waits`.
    mutating func permitRequested(
        _ arrival: Arrival, by waiter: Waiter, now: Duration
    ) -> (answer: Answer, ended: [Resumption]) {
        let key = arrival.key
        let limit = limit(of: key)
        let present = inFlight(of: key)
        if settings.isDryRun { return (.granted(grantInDryRun(key, now: now)), []) }
        guard present >= limit else { return (.granted(grant(key, now: now)), []) }
        if let deadline = arrival.deadline, deadline <= now {
            counts.expired += 1
            return (.refused(.waitExpired), [])
        }
        var queue = takeQueue(of: key)
        var ended: [Resumption] = []
        if queue.count >= settings.queueCapacity { ended = removeExpired(from: &queue, now: now) }
        let newcomer = Waiting(
            number: arrival.number, rank: Self.rank(arrival.priority), deadline: arrival.deadline, waiter: waiter)
        if queue.count >= settings.queueCapacity {
            guard let last = queue.first, last.rank < newcomer.rank else {
                put(queue, of: key, inFlight: present, now: now)
                counts.refused += 1
                return (.refused(.queueFull), ended)
            }
            queue.removeFirst()
            counts.displaced += 1
            ended.append(Resumption(waiter: last.waiter, result: .failure(.init(reason: .displaced))))
        }
        queue.insert(newcomer, at: Self.place(of: newcomer, in: queue))
        put(queue, of: key, inFlight: present, now: now)
        counts.waited += 1
        return (.waits(until: arrival.deadline), ended)
    }

    /// A request needs a permit at once. `nil`: the limit is reached.
    mutating func permitTaken(_ key: String, now: Duration) -> Grant? {
        guard inFlight(of: key) >= limit(of: key) else { return grant(key, now: now) }
        guard settings.isDryRun else {
            counts.refused += 1
            return nil
        }
        counts.wouldRefuse += 1
        return grant(key, now: now)
    }

    /// A request needs a permit, and waits for one next if none is free. `nil`: the limit is reached; nothing is
    /// counted. In a dry run nobody waits.
    mutating func permitIfFree(_ key: String, now: Duration) -> Grant? {
        if settings.isDryRun { return grantInDryRun(key, now: now) }
        return inFlight(of: key) < limit(of: key) ? grant(key, now: now) : nil
    }

    /// The request of a permit waits for something else before it is sent. It keeps its place, but the adaptive limit
    /// does not count it as in flight. Returns the grant that replaces this one.
    mutating func permitHeld(_ grant: Grant) -> Grant {
        guard !grant.isHeld, lanes[grant.key] != nil else { return grant }
        lanes[grant.key]?.held += 1
        var grant = grant
        grant.isHeld = true
        return grant
    }

    /// The request of a permit is sent now, after a wait: its latency begins. Returns the grant that replaces this one.
    mutating func permitUsed(_ grant: Grant, now: Duration) -> Grant {
        if grant.isHeld { lanes[grant.key]?.held -= 1 }
        return Grant(key: grant.key, inFlight: sent(of: grant.key), time: now)
    }

    /// The waiter's task was cancelled. `nil` where the wait has ended before.
    mutating func waiterLeft(_ number: UInt64, of key: String) -> Waiter? {
        guard let waiting = remove(number, of: key, { _ in true }) else { return nil }
        counts.cancelled += 1
        return waiting.waiter
    }

    /// The waiter's deadline has passed. `nil` if the wait has ended already, or if the deadline has not passed yet.
    mutating func waitExpired(_ number: UInt64, of key: String, now: Duration) -> Waiter? {
        guard let waiting = remove(number, of: key, { $0.isExpired(at: now) }) else { return nil }
        counts.expired += 1
        return waiting.waiter
    }

    /// A permit came back. Each grant must be given back once; the shell sees to that.
    mutating func permitReturned(_ grant: Grant, as use: Use, now: Duration) -> [Resumption] {
        let key = grant.key
        let present = inFlight(of: key)
        // A grant of another machine, or one that came back before.
        guard present > 0 else { return [] }
        if grant.isHeld { lanes[key]?.held -= 1 }
        switch use {
        case .recorded(let latency):
            lanes[key]?.adaptive?.requestEnded(latency: latency, inFlight: grant.inFlight, now: now)
        case .overloaded(let latency):
            lanes[key]?.adaptive?
                .requestEnded(latency: latency, inFlight: grant.inFlight, isDropped: true, now: now)
        case .dropped: counts.dropped += 1
        }
        var queue = takeQueue(of: key)
        lanes[key]?.state = .busy(inFlight: present - 1)
        let limit = limit(of: key)
        var ended: [Resumption] = []
        while let first = queue.last, inFlight(of: key) < limit {
            queue.removeLast()
            if first.isExpired(at: now) {
                counts.expired += 1
                ended.append(Resumption(waiter: first.waiter, result: .failure(.init(reason: .waitExpired))))
            } else {
                ended.append(Resumption(waiter: first.waiter, result: .success(self.grant(key, now: now))))
            }
        }
        put(queue, of: key, inFlight: inFlight(of: key), now: now)
        return ended
    }

    // MARK: Lanes

    private mutating func grant(_ key: String, now: Duration) -> Grant {
        let inFlight = inFlight(of: key) + 1
        let state = State.busy(inFlight: inFlight)
        if lanes[key] == nil {
            let adaptive = settings.adaptive.map { idle.removeValue(of: key) ?? AdaptiveLimit($0) }
            lanes[key] = Lane(state: state, adaptive: adaptive)
        } else {
            lanes[key]?.state = state
        }
        counts.granted += 1
        return Grant(key: key, inFlight: sent(of: key), time: now)
    }

    /// Counts what would have happened to a request that may wait. Requests above the limit count as the queue.
    private mutating func grantInDryRun(_ key: String, now: Duration) -> Grant {
        let present = inFlight(of: key)
        let limit = limit(of: key)
        if present >= limit + settings.queueCapacity {
            counts.wouldRefuse += 1
        } else if present >= limit {
            counts.wouldWait += 1
        }
        return grant(key, now: now)
    }

    /// The requests of a key in flight, without those that hold their places and wait.
    private func sent(of key: String) -> Int { inFlight(of: key) - (lanes[key]?.held ?? 0) }

    /// Takes the queue out of a lane until ``put(_:of:inFlight:now:)``, so that a change does not copy the queue.
    private mutating func takeQueue(of key: String) -> [Waiting] {
        guard case .queueing(let inFlight, let queue)? = lanes[key]?.state else { return [] }
        lanes[key]?.state = .busy(inFlight: inFlight)
        return queue
    }

    private mutating func put(_ queue: [Waiting], of key: String, inFlight: Int, now: Duration) {
        if !queue.isEmpty {
            lanes[key]?.state = .queueing(inFlight: inFlight, queue)
        } else if inFlight > 0 {
            lanes[key]?.state = .busy(inFlight: inFlight)
        } else {
            let lane = lanes.removeValue(forKey: key)
            if let adaptive = lane?.adaptive { _ = idle.value(key, now: now) { adaptive } }
        }
    }

    private mutating func remove(_ number: UInt64, of key: String, _ applies: (Waiting) -> Bool) -> Waiting? {
        let present = inFlight(of: key)
        var queue = takeQueue(of: key)
        guard !queue.isEmpty else { return nil }
        defer { put(queue, of: key, inFlight: present, now: .zero) }
        guard let index = queue.firstIndex(where: { $0.number == number }), applies(queue[index]) else { return nil }
        return queue.remove(at: index)
    }

    private mutating func removeExpired(from queue: inout [Waiting], now: Duration) -> [Resumption] {
        let expired = queue.filter { $0.isExpired(at: now) }
        guard !expired.isEmpty else { return [] }
        queue.removeAll { $0.isExpired(at: now) }
        counts.expired += expired.count
        return expired.reversed().map {
            Resumption(waiter: $0.waiter, result: .failure(.init(reason: .waitExpired)))
        }
    }

    private static func rank(_ priority: Priority) -> Int {
        switch priority {
        case .low: 0
        case .normal: 1
        case .high: 2
        }
    }

    /// A binary search.
    private static func place(of newcomer: Waiting, in queue: [Waiting]) -> Int {
        var low = 0
        var high = queue.count
        while low < high {
            let middle = (low + high) / 2
            if queue[middle].isBefore(newcomer) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

/// A permit that was given out.
struct ConcurrencyGrant: Sendable, Hashable {
    let key: String
    /// The requests in flight when the permit was granted, or the request was sent, with this one.
    let inFlight: Int
    /// When the permit was granted, or the request was sent.
    let time: Duration
    /// Whether the request waits for something else.
    var isHeld = false
}
