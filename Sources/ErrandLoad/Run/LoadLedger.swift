/// The state of a run: what may begin, and how everything has ended. Pure: callers pass the time, in nanoseconds of
/// ``LoadClock``. The ledger is changed while the lock of ``LoadRecorder`` is held.
///
/// A request belongs to the measured part if it was due at or after the part's beginning. It is counted when it ends, or
/// when the run is over, so the counts always add up.
package struct LoadLedger: Sendable {
    /// How long arrivals that were due before the end may be sent after it, because the dispatcher was late.
    static let lateArrivals: UInt64 = 100_000_000
    /// How long cancelled iterations may take to end. Steps that ignore cancellation do not hold up the run any longer.
    static let abandonment: UInt64 = 5_000_000_000
    /// How long requests and iterations in flight may take to end after ``LoadRun/stop()``.
    static let stopGrace: UInt64 = 1_000_000_000
    /// The most names of requests that steps may make; further ones are counted as `other`.
    static let mostNames = 500
    /// How many intervals the live view sees.
    static let recentIntervals = 120
    /// The most intervals of the result, approximately. A longer run has longer intervals: their length doubles.
    static let mostIntervals = 3600
    /// The run is given up if this many iterations in a row failed, and no request was sent at all.
    static let mostFailures = 100

    let share: LoadShare
    private(set) var phase = Phase.waiting
    /// When the load begins, when the measured part begins, and when it ends.
    private(set) var opening: UInt64 = .max
    private(set) var origin: UInt64 = .max
    private(set) var closing: UInt64 = .max
    private let warmUp: UInt64
    let planned: UInt64
    private let grace: UInt64
    let interval: UInt64
    private let limit: UInt64?
    /// Measured requests that have begun, and that have ended.
    var begun: UInt64 = 0
    private(set) var ended: UInt64 = 0
    /// When the last request of the limit ended, if that was before the tick that begins the measured part.
    private var limitReached: UInt64?
    /// Requests that were sent and have not ended.
    private(set) var inFlight = 0
    var scenarios: [ScenarioLedger] = []
    private(set) var records: [RequestRecord] = []
    /// The counted requests that were sent and have not ended.
    private var underWay = OpenRequests()
    /// The records that have counted something in the present interval: the others are not looked at when it ends.
    private var active: [Int] = []
    /// How many intervals make one interval of the result.
    private(set) var scale = 1
    /// Iterations that failed before the first request of the run; `nil`: a request was sent.
    private var failedStarts: Int? = 0
    /// Why the run was given up: no iteration could send a request.
    private(set) var startFailure: String?
    /// The scenario of each record.
    private(set) var owners: [Int] = []
    private(set) var checks: [CheckStatistics] = []
    private(set) var failures: [String] = []
    private var failureKinds: Set<LoadError> = []
    private(set) var lackedDescriptors: UInt64 = 0
    private var index = 0
    private(set) var recent: [LoadSnapshot.Interval] = []
    private(set) var isInterrupted = false
    private(set) var abortedBy: String?

    package init(_ plan: LoadPlan, interval: Duration = .seconds(1)) {
        share = plan.share
        warmUp = plan.warmUp.loadNanoseconds
        grace = plan.gracePeriod.loadNanoseconds
        limit = plan.ownRequestLimit
        self.interval = interval.loadNanoseconds
        var planned: UInt64 = 0
        for (number, scenario) in plan.scenarios.enumerated() {
            var first: Int?
            if case .requests(let requests) = scenario.work {
                first = records.count
                for request in requests {
                    records.append(RequestRecord(scenario: scenario.name, name: request.name))
                    owners.append(number)
                }
            }
            let ledger = ScenarioLedger(scenario, number: number, plan: plan, firstRecord: first)
            planned = max(planned, ledger.schedule.duration)
            scenarios.append(ledger)
        }
        self.planned = planned
    }

    // MARK: Time

    /// The load begins at `time`, which may be in the future.
    package mutating func start(at time: UInt64) {
        guard phase == .waiting else { return }
        opening = time
        // A share without a request has no warm-up.
        origin = limit == 0 ? time : time + warmUp
        closing = origin + planned
    }

    /// Moves on to the phase of the present time. Called about every 10 ms.
    package mutating func tick(_ now: UInt64) -> Step {
        switch phase {
        case .waiting:
            guard now >= opening else { return .none }
            phase = .warmingUp
            return tick(now)
        case .warmingUp:
            guard now >= origin else { return .none }
            phase = .measuring
            for scenario in scenarios.indices { scenarios[scenario].measuringBegan() }
            return .measure
        case .measuring:
            roll(now)
            if let limitReached {
                drain(limitReached, grace: grace)
                return .drain
            }
            if limit == 0 || scenarios.allSatisfy(\.hasNobodyLeft) {
                drain(now, grace: grace)
                return .drain
            }
            guard now >= closing, now >= closing + Self.lateArrivals || !hasLateArrivals else { return .none }
            drain(now, grace: grace)
            return .drain
        case .draining(let until):
            roll(now)
            if isIdle { return finish(now) }
            guard now >= until else { return .none }
            phase = .cut(since: now)
            return .cut
        case .cut(let since):
            return isIdle || now >= since + Self.abandonment ? finish(now) : .none
        case .done:
            return .done
        }
    }

    /// Ends the load now. Requests and iterations in flight get 1 s to end.
    package mutating func stop(_ now: UInt64) {
        isInterrupted = true
        halt(now)
    }

    /// Ends the load now because a threshold was crossed.
    package mutating func abort(_ now: UInt64, by threshold: String) {
        guard isOpen else { return }
        abortedBy = threshold
        halt(now)
    }

    private mutating func halt(_ now: UInt64) {
        if isOpen {
            let end = endOfStop(now)
            drain(now, grace: min(grace, Self.stopGrace))
            closing = min(closing, end)
        }
        if case .draining(let until) = phase {
            phase = .draining(until: min(until, now + min(grace, Self.stopGrace)))
        }
    }

    /// A stop may come at any moment. If a dispatcher was about to send an arrival, the measured part ends before that
    /// arrival, because the generator was not late.
    private func endOfStop(_ now: UInt64) -> UInt64 {
        guard origin < now else { return now }
        return scenarios.reduce(now) { end, scenario in
            guard !scenario.isAtWarmUp, scenario.hasFreeUser, left != 0, let arrival = scenario.arrival else {
                return end
            }
            let due = origin + arrival.due
            return due < end && now - due < Self.lateArrivals ? due : end
        }
    }

    private mutating func drain(_ now: UInt64, grace: UInt64) {
        closing = min(closing, now)
        phase = .draining(until: now + grace)
    }

    private mutating func finish(_ now: UInt64) -> Step {
        roll(now)
        for (record, due) in underWay.removeAll() {
            touch(record)
            records[record].countUnfinished(waited: now > due ? now - due : 0)
        }
        countNeverSent(now)
        for scenario in scenarios.indices { scenarios[scenario].interruptRest() }
        phase = .done(at: now)
        return .done
    }

    /// Whether iterations may begin.
    package var isOpen: Bool {
        switch phase {
        case .waiting, .warmingUp, .measuring: true
        case .draining, .cut, .done: false
        }
    }

    var isDone: Bool {
        if case .done = phase { true } else { false }
    }

    private var isCut: Bool {
        if case .cut = phase { true } else { false }
    }

    private var isIdle: Bool { inFlight == 0 && scenarios.allSatisfy { $0.running == 0 } }

    /// The time from the beginning of the measured part to its end, or to `now`.
    package func measured(_ now: UInt64) -> UInt64 {
        let last = min(now, closing)
        return last > origin ? last - origin : 0
    }

    // MARK: Iterations

    /// Users of the closed model that begin now. The caller starts each of them.
    package mutating func usersToBegin(_ scenario: Int, _ now: UInt64) -> [Iteration] {
        guard isOpen, !isAtLimit, now >= opening, !scenarios[scenario].isOpen else { return [] }
        let wanted = wantedUsers(scenario, now)
        return scenarios[scenario].resting(below: wanted).compactMap { user in
            next(scenario, user, now, isNew: true)
        }
    }

    /// The number of users of this share that the closed model wants at that time.
    package func wantedUsers(_ scenario: Int, _ now: UInt64) -> Int {
        guard now >= opening, now < closing else { return 0 }
        // Read in place: a copy of the scenario would retain each of its members.
        let users =
            now < origin
            ? Int(scenarios[scenario].schedule.firstLevel.rounded())
            : scenarios[scenario].schedule.users(at: now - origin)
        return share.part(of: users)
    }

    /// The next iteration of a user that runs; `nil`: the user rests from now on.
    package mutating func next(_ scenario: Int, _ user: Int, _ now: UInt64) -> Iteration? {
        guard isOpen, !isAtLimit else {
            scenarios[scenario].rest(user)
            return nil
        }
        guard scenarios[scenario].isOpen else { return next(scenario, user, now, isNew: false) }
        guard let iteration = arrival(scenario, user, free: now, now) else {
            scenarios[scenario].rest(user)
            return nil
        }
        return iteration
    }

    private mutating func next(_ scenario: Int, _ user: Int, _ now: UInt64, isNew: Bool) -> Iteration? {
        guard user < wantedUsers(scenario, now), let number = scenarios[scenario].begin(user, isNew: isNew) else {
            scenarios[scenario].rest(user)
            return nil
        }
        return began(
            Iteration(scenario: scenario, user: user, number: number, due: now, free: now, isCounted: now >= origin))
    }

    private mutating func began(_ iteration: Iteration) -> Iteration {
        scenarios[iteration.scenario].iterationBegan(isCounted: iteration.isCounted)
        return iteration
    }

    /// What the dispatcher of an open scenario does at that time.
    package mutating func dispatch(_ scenario: Int, _ now: UInt64) -> Dispatch {
        guard isOpen, !isAtLimit, !scenarios[scenario].hasLostItsUsers else { return .over }
        guard let due = nextDue(scenario, now) else {
            // The measured part may still begin.
            return scenarios[scenario].isAtWarmUp ? .wait(until: origin) : .over
        }
        guard due < closing else { return .over }
        guard due <= now else { return .wait(until: due) }
        // If all users are busy, the next user that becomes free takes the arrival itself.
        guard let user = scenarios[scenario].takeFreeUser() else { return .wait(until: now + 1_000_000) }
        guard let iteration = arrival(scenario, user, free: due, now) else {
            scenarios[scenario].rest(user)
            return .wait(until: now + 1_000_000)
        }
        return .begin(iteration)
    }

    /// When the next arrival is due.
    private mutating func nextDue(_ scenario: Int, _ now: UInt64) -> UInt64? {
        if now >= origin { scenarios[scenario].endWarmUp() }
        guard let arrival = scenarios[scenario].arrival else { return nil }
        return (scenarios[scenario].isAtWarmUp ? opening : origin) + arrival.due
    }

    /// `free`: when the user was free.
    private mutating func arrival(_ scenario: Int, _ user: Int, free: UInt64, _ now: UInt64) -> Iteration? {
        guard let due = nextDue(scenario, now), due <= now, due < closing, let arrival = scenarios[scenario].arrival
        else {
            return nil
        }
        let isCounted = !scenarios[scenario].isAtWarmUp
        scenarios[scenario].advance()
        return began(
            Iteration(
                scenario: scenario, user: user, number: arrival.number, due: due, free: max(due, free),
                isCounted: isCounted))
    }

    /// An iteration is over. ``next(_:_:_:)`` or ``leave(_:)`` follows for its user.
    package mutating func end(_ iteration: Iteration, _ ending: IterationEnd) {
        scenarios[iteration.scenario].iterationEnded()
        guard iteration.isCounted, !isDone else { return }
        switch ending {
        case .completed: scenarios[iteration.scenario].statistics.completed += 1
        case .failed: scenarios[iteration.scenario].statistics.failed += 1
        case .interrupted: scenarios[iteration.scenario].statistics.interrupted += 1
        }
    }

    /// The user begins no iteration any more. In the open model arrivals go on, for the users that are left.
    package mutating func leave(_ iteration: Iteration) {
        scenarios[iteration.scenario].leave(iteration.user)
    }

    /// An iteration has failed before it sent a request. Ends the run if no iteration has ever sent a request, and many
    /// have failed.
    mutating func failedToStart(_ reason: String?, _ now: UInt64) {
        guard let failures = failedStarts, isOpen else { return }
        failedStarts = failures + 1
        guard failures + 1 >= Self.mostFailures else { return }
        startFailure = reason ?? "the steps failed"
        halt(now)
    }

    // MARK: Requests

    private var isAtLimit: Bool { limit.map { begun >= $0 } ?? false }

    /// The counted requests that may still begin; `nil`: any number.
    var left: UInt64? { limit.map { $0 - min($0, begun) } }

    /// The record of a weighted request, chosen for the iteration, with the request's index in its scenario.
    func weighted(_ iteration: Iteration) -> (record: Int, request: Int) {
        // In the open model the arrival alone decides, so that the shares of a plan send what the whole plan sends.
        let user = scenarios[iteration.scenario].isOpen ? 0 : UInt64(share.number(of: iteration.user))
        let choice = scenarios[iteration.scenario].choice(user, iteration.number)
        return ((scenarios[iteration.scenario].firstWeighted ?? 0) + choice, choice)
    }

    /// The record of that name, made if there is none.
    mutating func record(_ scenario: Int, named name: String) -> Int {
        if let record = scenarios[scenario].records[name] { return record }
        let isFull = scenarios[scenario].records.count >= Self.mostNames
        let title = isFull ? "other" : name
        if isFull, let other = scenarios[scenario].records[title] { return other }
        records.append(RequestRecord(scenario: scenarios[scenario].name, name: title))
        owners.append(scenario)
        scenarios[scenario].records[title] = records.count - 1
        if scenarios[scenario].firstRecord == nil { scenarios[scenario].firstRecord = records.count - 1 }
        return records.count - 1
    }

    /// A request that was due at `due` is about to be sent. `free`: when there was a user for it; `nil`: at `due`.
    /// Returns `nil` if the run is over, or has all its requests.
    package mutating func begin(_ record: Int, due: UInt64, free: UInt64? = nil, _ now: UInt64) -> Ticket? {
        switch phase {
        case .warmingUp, .measuring, .draining: break
        case .waiting:
            // The first requests may be due before the phase was looked at.
            guard now >= opening else { return nil }
        case .cut, .done: return nil
        }
        let isCounted = due >= origin && closing >= origin
        if isCounted {
            guard !isAtLimit else { return nil }
            begun += 1
        }
        inFlight += 1
        failedStarts = nil
        let free = max(due, free ?? due)
        return Ticket(
            record: record, due: due, free: free, sent: max(free, now), isCounted: isCounted,
            place: isCounted ? underWay.add(record, due: due) : 0)
    }

    /// A request has ended.
    package mutating func end(_ ticket: Ticket, _ outcome: LoadOutcome, _ now: UInt64) {
        guard !isDone else { return }
        inFlight -= 1
        guard ticket.isCounted else { return }
        underWay.remove(ticket.place)
        roll(now)
        ended += 1
        touch(ticket.record)
        records[ticket.record].count(outcome, ticket, now: now, isCut: isCut)
        if let text = outcome.text { note(outcome, text) }
        if let limit, ended >= limit, isOpen {
            // The tick that begins the measured part may still have to come.
            if phase == .measuring { drain(now, grace: grace) } else { limitReached = limitReached ?? now }
        }
    }

    private mutating func note(_ outcome: LoadOutcome, _ text: String) {
        if outcome.lacksDescriptor { lackedDescriptors += 1 }
        guard failures.count < 10, !isCut else { return }
        let kind: LoadError
        switch outcome.ending {
        case .rejected(_, let error), .failed(let error), .timedOut(let error), .cancelled(let error): kind = error
        case .answered, .refused: return
        }
        if failureKinds.insert(kind).inserted { failures.append(text) }
    }

    /// Notes the text of an error that is not the error of a request.
    mutating func note(_ text: String) {
        if failures.count < 10, !failures.contains(text) { failures.append(text) }
    }

    /// An answered request turned out to be an error.
    mutating func reject(_ ticket: Ticket, _ error: LoadError) {
        guard ticket.isCounted, !isDone else { return }
        touch(ticket.record)
        records[ticket.record].reject(error)
    }

    /// Counts requests that were due and never sent.
    mutating func neverSent(_ count: UInt64, of record: Int, waited: UInt64) {
        guard count > 0 else { return }
        touch(record)
        records[record].countNeverSent(count, waited: waited)
        begun += count
    }

    mutating func check(_ scenario: Int, named name: String, isPassed: Bool, isCounted: Bool) {
        guard isCounted, !isDone else { return }
        let owner = scenarios[scenario].name
        var place = checks.firstIndex { $0.name == name && $0.scenario == owner }
        if place == nil, checks.count < Self.mostNames {
            checks.append(CheckStatistics(scenario: owner, name: name))
            place = checks.count - 1
        }
        guard let place else { return }
        if isPassed { checks[place].passed += 1 } else { checks[place].failed += 1 }
    }

    /// The turn of a feed that is read one row after another.
    mutating func turn(_ scenario: Int, feed: Int) -> UInt64 {
        defer { scenarios[scenario].turns[feed] += 1 }
        return scenarios[scenario].turns[feed]
    }

    // MARK: Intervals

    /// The intervals of the measured part, of which the last one may be shorter.
    var measuredIntervals: Int {
        closing > origin ? Int((closing - origin + interval - 1) / interval) : 0
    }

    /// The interval of a time. A request that ends after the measured part is in no interval of that part.
    private func place(of now: UInt64) -> Int {
        guard now > origin else { return 0 }
        let place = Int((now - origin) / interval)
        return now > closing ? max(place, measuredIntervals) : place
    }

    /// The record counts something in the present interval.
    private mutating func touch(_ record: Int) {
        if records[record].join(index) { active.append(record) }
    }

    /// Closes the present interval if it is over.
    private mutating func roll(_ now: UInt64) {
        let next = place(of: now)
        guard next > index else { return }
        var latency = LatencyHistogram()
        var counts = LoadCounts()
        var rejected: UInt64 = 0
        let measured = measuredIntervals
        for place in active {
            latency.add(records[place].presentLatency)
            counts += records[place].presentCounts
            rejected += records[place].presentRejected
            records[place].close(scale: scale, measured: measured)
        }
        active.removeAll(keepingCapacity: true)
        recent.append(
            LoadSnapshot.Interval(
                index: index, answered: counts.answered, errors: counts.unanswered + rejected,
                p50: latency.value(at: 50), p99: latency.value(at: 99)))
        if recent.count > Self.recentIntervals { recent.removeFirst(recent.count - Self.recentIntervals) }
        index = next
        while index / scale >= Self.mostIntervals { scale *= 2 }
    }
}
