import Glibc

/// The endpoints, their health, and the choice among them.
///
/// An endpoint that fails is ejected for a time. Then one request is its probe: a success makes the endpoint healthy, a
/// failure ejects it for longer. Each ejection begins a new era, and results of requests of an earlier era say nothing
/// about an endpoint's health. If a probe has not ended after the length of a first ejection, another request may
/// probe.
struct EndpointStateMachine: Sendable {
    enum Health: Sendable, Hashable {
        /// Is used; with the failures since the last success.
        case healthy(failuresInRow: Int)
        /// Is not used until this time.
        case ejected(until: Duration)
        /// The ejection is over; the next request is the probe.
        case returning
        /// The request with this number is the probe. From `until` on, another request may probe.
        case probing(UInt64, until: Duration)

        var isHealthy: Bool { if case .healthy = self { true } else { false } }
    }

    struct Member: Sendable {
        let id: UInt64
        var endpoint: Endpoint
        /// Changed by ``EndpointStateMachine/setHealth(of:_:)`` alone.
        fileprivate(set) var health = Health.healthy(failuresInRow: 0)
        /// The number of ejections so far.
        var era = 0
        /// The number of ejections that the length of the next one is computed from; falls with each quiet interval.
        var severity = 0
        var pending = 0
        /// The latency in seconds and its time; `nil`: no sample.
        var latency: (peak: Double, time: Duration)?
        /// The start of the first late attempt that was overtaken since the last success.
        var silentSince: Duration?
        /// The successes in the present interval.
        var successes = 0
        var failures = 0
        /// For the round robin.
        var turn = 0
    }

    /// A choice, which must be given back by ``requestEnded(_:_:draw:now:)``.
    struct Pick: Sendable, Hashable {
        let number: UInt64
        let member: UInt64
        let era: Int
        let endpoint: Endpoint
        let time: Duration
        let isProbe: Bool
        /// Whether the request had already tried the endpoint.
        let isRepeated: Bool
    }

    enum Outcome: Sendable, Hashable {
        case success(Duration)
        /// A 429: a success of the endpoint, which asks for fewer requests, and perhaps for a wait.
        case throttled(Duration, wait: Duration?)
        case failure(Duration, wait: Duration? = nil)
        /// Another attempt of the request was faster, and this one was cancelled at this age. `isLate`: it was old
        /// enough for an answer.
        case lost(Duration, isLate: Bool)
        /// The caller cancelled the request at this age, or had no time left.
        case abandoned(Duration)
        /// The request says nothing about the endpoint: it was not sent.
        case dropped
        /// The result was already reported by ``EndpointStateMachine/requestAnswered(_:_:draw:now:)``.
        case voted

        /// The outcome of a response.
        init(status: Int, retryAfter: Duration?, latency: Duration) {
            switch status {
            case 429: self = .throttled(latency, wait: retryAfter)
            case ..<500: self = .success(latency)
            default: self = .failure(latency, wait: retryAfter)
            }
        }
    }

    /// Random numbers, 0...1.
    struct Draw: Sendable {
        var first: Double
        var second: Double

        init(_ first: Double, _ second: Double) {
            self.first = first.clamped(0...1, nan: 0)
            self.second = second.clamped(0...1, nan: 0)
        }
    }

    let policy: EndpointPolicy
    var members: [Member] = []
    var counts = EndpointSet.Counts()
    /// The endpoints that are not healthy. Stored, because every request needs the number.
    private(set) var unhealthyCount = 0
    private var places: [UInt64: Int] = [:]
    private var ring: HashRing?
    private var lastID: UInt64 = 0
    private var lastPick: UInt64 = 0
    private var nextComparison: Duration?

    init(_ policy: EndpointPolicy, _ endpoints: [Endpoint] = []) {
        self.policy = policy
        endpointsReplaced(EndpointList(endpoints, policy))
    }

    // MARK: Events

    /// The list has changed. Endpoints whose URL stays in the list keep their state.
    mutating func endpointsReplaced(_ list: EndpointList) {
        let known = Dictionary(uniqueKeysWithValues: members.map { ($0.endpoint.url, $0) })
        members = list.endpoints.map { endpoint in
            if var member = known[endpoint.url] {
                member.endpoint = endpoint
                return member
            }
            lastID += 1
            return Member(id: lastID, endpoint: endpoint)
        }
        places = Dictionary(uniqueKeysWithValues: members.enumerated().map { ($1.id, $0) })
        ring = list.ring
        unhealthyCount = members.count(where: { !$0.health.isHealthy })
        // In a shorter list the share of ejected endpoints may be too large.
        while unhealthyCount > ejectionCapacity, let index = soonestReturn {
            setHealth(of: index, .healthy(failuresInRow: 0))
        }
    }

    /// A request needs an endpoint. `tried`: the URLs of endpoints that the request has tried; they are left out if
    /// another one may be used.
    mutating func endpointRequested(
        key: String?, excluding tried: Set<String>, allowsRepeats: Bool, draw: Draw, now: Duration
    ) -> Result<Pick, EndpointRefusal> {
        let now = now.clampedTime
        timePassed(now, draw.second)
        guard !members.isEmpty else { return refused(.noEndpoints) }
        let isPanic = Double(members.count - unhealthyCount) < policy.panicThreshold * Double(members.count)
        let usable = members.indices.filter { isPanic || isUsable(members[$0]) }
        var pool = tried.isEmpty ? usable : usable.filter { !tried.contains(members[$0].endpoint.url) }
        let isRepeated = pool.isEmpty
        if isRepeated {
            guard allowsRepeats else { return refused(usable.isEmpty ? .noneHealthy : .allTried) }
            pool = usable
        }
        guard !pool.isEmpty else { return refused(.noneHealthy) }
        if isPanic { counts.panics += 1 } else { pool = local(pool) }
        guard let index = choice(pool, key, draw, now) else { return refused(.noneHealthy) }
        counts.picks += 1
        if isRepeated { counts.repeats += 1 }
        lastPick += 1
        members[index].pending += 1
        let isProbe = members[index].health == .returning
        if isProbe {
            let lifetime = policy.outliers?.baseEjection ?? .zero
            setHealth(of: index, .probing(lastPick, until: now.clampedTime(plus: lifetime)))
        }
        let member = members[index]
        return .success(
            Pick(
                number: lastPick, member: member.id, era: member.era, endpoint: member.endpoint, time: now,
                isProbe: isProbe, isRepeated: isRepeated))
    }

    /// The endpoint has answered, and the request goes on: a streamed response. The request stays pending, and ends
    /// with ``Outcome/voted``.
    mutating func requestAnswered(_ pick: Pick, _ outcome: Outcome, draw: Draw, now: Duration) {
        let now = now.clampedTime
        defer { timePassed(now, draw.second) }
        if let index = places[pick.member] { judge(pick, outcome, of: index, draw, now) }
    }

    /// A request that had an endpoint has ended. Each pick must be given back once; the shell sees to that.
    mutating func requestEnded(_ pick: Pick, _ outcome: Outcome, draw: Draw, now: Duration) {
        let now = now.clampedTime
        defer { timePassed(now, draw.second) }
        // The endpoint may have left the list.
        guard let index = places[pick.member] else { return }
        members[index].pending = max(0, members[index].pending - 1)
        judge(pick, outcome, of: index, draw, now)
    }

    // MARK: Health

    private mutating func judge(_ pick: Pick, _ outcome: Outcome, of index: Int, _ draw: Draw, _ now: Duration) {
        switch outcome {
        case .voted: break
        case .dropped:
            dropped(pick, of: index)
        case .abandoned(let age):
            // A result would have taken longer. Without the age, an endpoint that never answers would keep the assumed
            // latency, which is lower than that of most endpoints that answer.
            raise(to: age, of: index, now)
            dropped(pick, of: index)
        case .success(let latency):
            observe(latency, of: index, now)
            succeeded(pick, of: index)
        case .throttled(let latency, let wait):
            counts.throttled += 1
            observe(max(latency, penalty(isFailure: false, wait)), of: index, now)
            succeeded(pick, of: index)
        case .failure(let latency, let wait):
            observe(max(latency, penalty(isFailure: true, wait)), of: index, now)
            failed(pick, of: index, draw, now)
        case .lost(let age, let isLate):
            counts.lost += 1
            raise(to: age, of: index, now)
            if isLate, hasStalled(pick, of: index, now) {
                failed(pick, of: index, draw, now)
            } else {
                dropped(pick, of: index)
            }
        }
    }

    /// A probe decides even if it took so long that another probe was allowed.
    private func isDeciding(_ pick: Pick, of index: Int) -> Bool {
        pick.isProbe && pick.era == members[index].era && !members[index].health.isHealthy
    }

    private mutating func dropped(_ pick: Pick, of index: Int) {
        if case .probing(pick.number, _) = members[index].health { setHealth(of: index, .returning) }
    }

    private mutating func succeeded(_ pick: Pick, of index: Int) {
        members[index].silentSince = nil
        guard pick.era == members[index].era else { return }
        let isProbe = isDeciding(pick, of: index)
        members[index].successes += 1
        if isProbe { counts.returns += 1 }
        if isProbe || members[index].health.isHealthy { setHealth(of: index, .healthy(failuresInRow: 0)) }
    }

    private mutating func failed(_ pick: Pick, of index: Int, _ draw: Draw, _ now: Duration) {
        guard pick.era == members[index].era else { return }
        members[index].failures += 1
        if isDeciding(pick, of: index) {
            eject(index, draw.first, now)
        } else if case .healthy(let failures) = members[index].health {
            setHealth(of: index, .healthy(failuresInRow: min(failures + 1, 1_000_000)))
            guard let outliers = policy.outliers, outliers.consecutiveFailures > 0,
                failures + 1 >= outliers.consecutiveFailures
            else { return }
            eject(index, draw.first, now)
        }
    }

    /// One more late attempt was overtaken. Returns whether the endpoint has had no success for the stall time.
    private mutating func hasStalled(_ pick: Pick, of index: Int, _ now: Duration) -> Bool {
        guard let outliers = policy.outliers, pick.era == members[index].era else { return false }
        let since = members[index].silentSince ?? pick.time
        members[index].silentSince = since
        return now - since >= outliers.stallTime
    }

    /// Ends ejections, and compares success rates at the end of an interval.
    mutating func timePassed(_ now: Duration, _ random: Double) {
        let now = now.clampedTime
        if unhealthyCount > 0 { endEjections(now) }
        guard let outliers = policy.outliers else { return }
        guard let due = nextComparison else {
            nextComparison = now.clampedTime(plus: outliers.interval)
            return
        }
        guard due <= now else { return }
        nextComparison = now.clampedTime(plus: outliers.interval)
        let eras = members.map(\.era)
        for index in successRateOutliers(outliers) { eject(index, random, now) }
        for index in members.indices {
            members[index].successes = 0
            members[index].failures = 0
            if members[index].health.isHealthy, members[index].era == eras[index] {
                members[index].severity = max(0, members[index].severity - 1)
            }
        }
    }

    private mutating func endEjections(_ now: Duration) {
        for index in members.indices {
            switch members[index].health {
            case .ejected(let until) where until <= now, .probing(_, let until) where until <= now:
                setHealth(of: index, .returning)
            default: break
            }
        }
    }

    private mutating func refused(_ reason: EndpointRefusal.Reason) -> Result<Pick, EndpointRefusal> {
        counts.refused += 1
        return .failure(EndpointRefusal(reason))
    }

    /// Changes the health of an endpoint.
    mutating func setHealth(of index: Int, _ health: Health) {
        let change = (health.isHealthy ? 0 : 1) - (members[index].health.isHealthy ? 0 : 1)
        unhealthyCount += change
        members[index].health = health
    }

    // MARK: Choosing

    private func isUsable(_ member: Member) -> Bool {
        switch member.health {
        case .healthy, .returning: true
        case .ejected, .probing: false
        }
    }

    /// The part of the pool in the preferred zone, while enough of the zone's endpoints are healthy.
    private mutating func local(_ pool: [Int]) -> [Int] {
        guard let preference = policy.zonePreference else { return pool }
        let zone = members.filter { $0.endpoint.zone == preference.zone }
        let healthy = zone.filter(\.health.isHealthy).count
        let local = pool.filter { members[$0].endpoint.zone == preference.zone }
        guard !local.isEmpty, Double(healthy) >= preference.healthyShare * Double(zone.count) else {
            counts.crossZone += 1
            return pool
        }
        return local
    }

    private mutating func choice(_ pool: [Int], _ key: String?, _ draw: Draw, _ now: Duration) -> Int? {
        switch policy.balancing {
        case .powerOfTwo(let settings): return lighter(pool, settings, draw, now)
        case .roundRobin:
            let total = weight(of: pool)
            for index in pool { members[index].turn += members[index].endpoint.weight }
            guard let best = pool.max(by: { (members[$0].turn, $1) < (members[$1].turn, $0) }) else { return nil }
            members[best].turn -= total
            return best
        case .ringHash(let settings):
            let hash = key.map { HashRing.hash($0) } ?? UInt64(draw.first * 0x1p63) << 1
            let allowed = pool.count < members.count ? Set(pool) : nil
            let isAllowed = { (index: Int) in allowed?.contains(index) ?? true }
            if let bound = settings.loadBound {
                let share = bound * fairShare(pool)
                let bounded = ring?.member(at: hash, count: members.count) { index in
                    let most = (share * Double(members[index].endpoint.weight)).rounded(.up)
                    return isAllowed(index) && Double(members[index].pending) < most
                }
                if let bounded { return bounded }
            }
            return ring?.member(at: hash, count: members.count, where: isAllowed)
        }
    }

    /// The pending requests of the pool, including the new request, per unit of weight.
    private func fairShare(_ pool: [Int]) -> Double {
        let pending = pool.reduce(1) { $0 + members[$1].pending }
        return Double(pending) / Double(max(1, weight(of: pool)))
    }

    private func weight(of pool: [Int]) -> Int { pool.reduce(0) { $0 + members[$1].endpoint.weight } }

    /// Two different endpoints are drawn by weight. If there are only two, both are compared without a draw.
    private mutating func lighter(
        _ pool: [Int], _ settings: EndpointPolicy.PeakEWMA, _ draw: Draw, _ now: Duration
    ) -> Int? {
        guard let first = drawn(pool, draw.first) else { return nil }
        guard let second = drawn(pool, draw.second, without: first) else { return first }
        let loads = [first, second].map { load(of: members[$0], settings, now) }
        if members[first].pending == 0, members[second].pending == 0 { counts.idlePicks += 1 }
        return loads[1] < loads[0] ? second : first
    }

    private func drawn(_ pool: [Int], _ random: Double, without other: Int? = nil) -> Int? {
        var rest = random * Double(weight(of: pool) - (other.map { members[$0].endpoint.weight } ?? 0))
        var last: Int?
        for index in pool where index != other {
            rest -= Double(members[index].endpoint.weight)
            if rest < 0 { return index }
            last = index
        }
        return last
    }

    /// The expected time of one more request, divided by the weight.
    func load(of member: Member, _ settings: EndpointPolicy.PeakEWMA, _ now: Duration) -> Double {
        let assumed = settings.assumed.inSeconds
        let latency = member.latency.map { decayed($0, settings, now) } ?? assumed
        return latency * Double(member.pending + 1) / Double(member.endpoint.weight)
    }

    private func decayed(
        _ latency: (peak: Double, time: Duration), _ settings: EndpointPolicy.PeakEWMA, _ now: Duration
    ) -> Double {
        let age = max(.zero, now - latency.time).inSeconds
        return latency.peak * exp(-age / settings.decay.inSeconds)
    }

    /// The latency that a failure, or a 429, counts as at least. `wait`: the wait that the response asks for.
    private func penalty(isFailure: Bool, _ wait: Duration?) -> Duration {
        guard case .powerOfTwo(let settings) = policy.balancing else { return .zero }
        let wait = min(max(wait ?? .zero, .zero), settings.longestRetryAfter)
        let throttled = max(settings.throttlePenalty, wait)
        guard isFailure else { return throttled }
        return wait > .zero ? max(settings.failurePenalty, throttled) : settings.failurePenalty
    }

    /// A higher latency counts at once, a lower one by the time that has passed (Finagle `PeakEwma`).
    private mutating func observe(_ latency: Duration, of index: Int, _ now: Duration) {
        guard case .powerOfTwo(let settings) = policy.balancing else { return }
        let sample = max(1e-6, latency.clampedWait.inSeconds)
        guard let former = members[index].latency else {
            members[index].latency = (sample, now)
            return
        }
        let age = max(.zero, now - former.time).inSeconds
        let weight = exp(-age / settings.decay.inSeconds)
        let peak = sample > former.peak * weight ? sample : former.peak * weight + sample * (1 - weight)
        members[index].latency = (peak, max(now, former.time))
    }

    /// The latency is only known to be at least `age`, so it can raise the average, but never lowers it.
    private mutating func raise(to age: Duration, of index: Int, _ now: Duration) {
        guard case .powerOfTwo(let settings) = policy.balancing else { return }
        let present = members[index].latency.map { decayed($0, settings, now) } ?? settings.assumed.inSeconds
        if age.inSeconds > present { observe(age, of: index, now) }
    }
}
