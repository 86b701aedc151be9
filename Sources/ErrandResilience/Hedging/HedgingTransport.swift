import Synchronization

/// Sends a transfer a second time if its answer is late. Is above the ``ResilientTransport``, so each attempt passes
/// the breaker and the limits, and gets an endpoint of its own.
///
/// Transfers that are not hedged go to the transport beneath with its ids. The ids of hedged transfers have the highest
/// bit set.
package final class HedgingTransport: StackedTransport {
    private struct Table: ~Copyable {
        var calls: [TransferID: HedgedCall] = [:]
        var isClosing = false
    }

    package let base: any Transport
    private let resilient: ResilientTransport
    /// Whether the client's own settings have hedges.
    private let hasHedges: Bool
    private let lastID = Atomic<UInt64>(0)
    private let table = Mutex(Table())
    private let timer: TimerQueue<HedgeTimer>

    private static let hedgedBit: UInt64 = 1 << 63

    package init(_ base: ResilientTransport) {
        self.base = base
        resilient = base
        hasHedges = base.settings.hedge != nil
        timer = TimerQueue(base.stopwatch, isWanted: { !$0.trail.hasEnded }, fire: { $0.fire() })
    }

    var stopwatch: Stopwatch { resilient.stopwatch }
    var parts: ResilienceParts { resilient.parts }

    /// The hedged transfers that have not ended.
    package var count: Int { table.withLock { $0.calls.count } }

    // MARK: Submission

    package func submit(
        _ description: RequestDescription, for receiver: TransferReceiver
    ) throws(ErrandError) -> TransferID {
        // Most clients have no hedges.
        guard hasHedges || description.hasRareMembers else { return try base.submit(description, for: receiver) }
        let replaced = description.replacedResilience
        guard let hedge = replaced?.hedge ?? resilient.settings.hedge, hedge.maxExtra > 0, !description.isExempt,
            !description.isWritten
        else { return try base.submit(description, for: receiver) }
        let policy = replaced?.retry ?? resilient.settings.retry ?? RetryPolicy()
        guard RetrySubject.mayOverlap(description, policy) else { return try base.submit(description, for: receiver) }
        let now = stopwatch.now()
        let keyed = resilient.keyedParts(of: description, now: now)
        let tracker = parts.hedgeTracker(for: keyed.key, hedge)
        if description.payment == .deposit { tracker.budget.deposit() }
        guard let delay = tracker.delay else {
            return try measure(description, for: receiver, policy, tracker)
        }
        let deadline = ResilientTransport.deadline(of: description, now: now)
        if let deadline, deadline <= now { throw .deadlineExceeded.refused }
        guard !hedge.isDryRun else {
            let machine = HedgeMachine(hedge, delay: delay, isRepeatable: true, deadline: deadline)
            return try submitInDryRun(machine, description, for: receiver, policy, tracker, keyed.budget)
        }
        let id = TransferID(
            rawValue: Self.hedgedBit | lastID.wrappingAdd(1, ordering: .relaxed).newValue)
        let call = HedgedCall(
            id, description, for: receiver, policy: policy, tracker: tracker, budget: keyed.budget,
            delay: delay, deadline: deadline, isCutShort: description.isCutShort(by: deadline, since: now))
        let isOpen = table.withLock { table in
            guard !table.isClosing else { return false }
            table.calls[id] = call
            return true
        }
        guard isOpen else { throw .shutDown }
        defer { call.accepted() }
        guard case .send(let attempt) = call.guarded.withLock({ $0.machine.started() }) else { return id }
        do throws(ErrandError) {
            _ = try send(call, attempt)
        } catch {
            // A shutdown may have ended the call already, because it was waiting, or a hedge was faster than the
            // refusal.
            guard let orders = call.guarded.withLock({ $0.submissionRefused() }) else {
                parts.transferBegan()
                return id
            }
            forget(call)
            for (hedge, order) in orders { perform(order, on: call, hedge) }
            description.tell(receiver, refusedSubmission: error, name: keyed.key)
            throw error
        }
        parts.transferBegan()
        return id
    }

    /// Sends a transfer that is not hedged, and measures its last attempt.
    private func measure(
        _ description: RequestDescription, for receiver: TransferReceiver, _ policy: RetryPolicy,
        _ tracker: HedgeTracker
    ) throws(ErrandError) -> TransferID {
        let trail = description.trail ?? AttemptTrail()
        var description = description
        description.trail = trail
        let measuring = LatencyReceiver(receiver, of: description, policy, trail, tracker, stopwatch)
        return try base.submit(description, for: measuring)
    }

    /// Sends a transfer whose hedges are only counted, and measures its last attempt.
    private func submitInDryRun(
        _ machine: HedgeMachine, _ description: RequestDescription, for receiver: TransferReceiver,
        _ policy: RetryPolicy, _ tracker: HedgeTracker, _ budget: RetryBudget?
    ) throws(ErrandError) -> TransferID {
        let trail = AttemptTrail(isDryRun: true)
        var description = description
        description.trail = trail
        let measuring = LatencyReceiver(receiver, of: description, policy, trail, tracker, stopwatch)
        let run = HedgeDryRun(
            measuring, of: description, machine, trail, policy: policy, tracker: tracker, budget: budget, in: self)
        do throws(ErrandError) {
            return try base.submit(description, for: run)
        } catch {
            run.end()
            throw error
        }
    }

    /// Sends an attempt. Returns false where it is not wanted any more.
    func send(_ call: HedgedCall, _ attempt: Int) throws(ErrandError) -> Bool {
        let now = stopwatch.now()
        var description = call.description
        description.trail = call.trail
        if attempt > 1, let deadline = call.deadline {
            let left = deadline - now
            guard left > .zero else { throw .deadlineExceeded.refused }
            description.settings = try description.settings.with(
                total: min(left, Timeouts.maximum), isCutShort: call.isCutShort)
        }
        guard call.guarded.withLock({ $0.begin(attempt) }) else { return false }
        let id: TransferID
        do throws(ErrandError) {
            id = try base.submit(description, for: HedgeReceiver(call, attempt: attempt, of: self))
        } catch {
            call.guarded.withLock { _ = $0.legs.removeValue(forKey: attempt) }
            throw error
        }
        let (order, credit) = call.guarded.withLock { guarded -> (TransferControl.Order, Int) in
            let order = guarded.legs[attempt]?.control.opened(id) ?? .none
            guard guarded.winner == attempt else { return (order, 0) }
            defer { guarded.owed = 0 }
            return (order, guarded.owed)
        }
        if credit > 0 { base.grant(id, bytes: credit) }
        perform(order, on: call, attempt)
        return true
    }

    func schedule(_ call: HedgedCall, _ next: Duration?) {
        guard let next else { return }
        timer.add(HedgeTimer(subject: call, trail: call.trail, transport: self), at: next)
        stopIfClosing(call)
    }

    /// The hedges of a dry run end with the transport.
    func schedule(_ run: HedgeDryRun, at time: Duration) {
        guard !table.withLock({ $0.isClosing }) else { return }
        timer.add(HedgeTimer(subject: run, trail: run.trail, transport: self), at: time)
    }

    /// An attempt leaves the client, after its waits for the limits; any thread.
    func attemptSent(_ call: HedgedCall, _ attempt: Int, at time: Duration) {
        let action = call.guarded.withLock { guarded in
            guarded.legs[attempt]?.start = time
            return guarded.machine.attemptSent(attempt, now: time)
        }
        if case .wait(let until) = action { schedule(call, until) }
    }

    /// The time of a hedge has come; any thread.
    func delayElapsed(_ call: HedgedCall) {
        let now = stopwatch.now()
        carryOut(call.guarded.withLock { $0.machine.delayElapsed(now: now) }, on: call, isInPlace: false)
    }

    // MARK: The transport beneath reports here, on the receiver's queue

    func pass(_ event: TransferEvent.Kind, of call: HedgedCall, _ attempt: Int) {
        let isPassed = call.guarded.withLock { guarded in
            // Until there is a winner, the first attempt stands for the call.
            guard !guarded.isOver, attempt == guarded.winner ?? 1, guarded.legs[attempt]?.isCut == false else {
                return false
            }
            guarded.outbox.append(event)
            return true
        }
        if isPassed { call.flush(isInPlace: true) }
    }

    /// The event is about the call, whichever of its attempts stands for it.
    func pass(_ event: TransferEvent.Kind, of call: HedgedCall) {
        let isPassed = call.guarded.withLock { guarded in
            guard !guarded.isOver else { return false }
            guarded.outbox.append(event)
            return true
        }
        if isPassed { call.flush(isInPlace: true) }
    }

    func headArrived(_ call: HedgedCall, _ attempt: Int, _ head: Response) {
        guard call.isStreamed else {
            return call.guarded.withLock { $0.legs[attempt]?.head = head }
        }
        let now = stopwatch.now()
        let isBad = call.policy.statusCodes.contains(head.statusCode)
        // To obey the wait that the server asks for, the response would have to be held back.
        let pushback: HedgeMachine.Pushback = isBad && head.headers.retryAfter != nil ? .stop : .none
        let (action, age) = call.guarded.withLock { guarded -> (HedgeMachine.Action, Duration?) in
            guard let leg = guarded.legs[attempt], !leg.isCut, guarded.winner == nil else { return (.none, nil) }
            guarded.legs[attempt]?.head = head
            if isBad {
                // While the budgets are asked, it is not known whether another attempt follows, so this response
                // stands.
                let pushback = guarded.machine.isAsking ? .stop : pushback
                return (guarded.machine.attemptFailed(attempt, isFatal: false, pushback: pushback, now: now), nil)
            }
            return (guarded.machine.attemptSucceeded(attempt), leg.start.map { now - $0 })
        }
        if let age { call.tracker.record(.success, age: age) }
        carryOut(action, on: call, isInPlace: true)
        guard isBad else { return }
        // Another attempt goes on instead of this one.
        let order = call.guarded.withLock { guarded in
            guarded.winner == attempt ? .none : guarded.cut(attempt)
        }
        perform(order, on: call, attempt)
    }

    func attemptEnded(_ call: HedgedCall, _ attempt: Int, _ result: TransferResult) {
        let now = stopwatch.now()
        let ending = RetryMachine.Ending(result, call.policy)
        let judgement = call.policy.judge(ending)
        var age: Duration?
        var isUnsent = false
        let action = call.guarded.withLock { guarded -> HedgeMachine.Action in
            guard let leg = guarded.legs.removeValue(forKey: attempt) else { return .none }
            if guarded.winner == attempt {
                guarded.end(HedgedCall.Answer(head: nil, result: result))
                return .none
            }
            guard !leg.isCut, guarded.winner == nil else {
                // The caller has cancelled the call, and this was its last attempt.
                if guarded.isCancelled, guarded.legs.isEmpty {
                    guarded.end(HedgedCall.Answer(head: nil, result: .failure(.cancelled)))
                }
                return .none
            }
            age = leg.start.map { now - $0 }
            let answer = HedgedCall.Answer(head: leg.head, result: result)
            if case .failure(let error) = result, error.isRefusal {
                // The attempt was not sent. The other attempts go on.
                guarded.refusals.append(answer)
                isUnsent = true
                if attempt > 1 { guarded.hedges -= 1 }
                return guarded.machine.attemptFailed(attempt, isFatal: false, pushback: .stop, now: now)
            }
            guarded.answers[attempt] = answer
            if !result.isUnsent { guarded.wasSent = true }
            switch (judgement, result) {
            case (.retry, _):
                return guarded.machine.attemptFailed(
                    attempt, isFatal: false, pushback: call.policy.pushback(ending), now: now)
            case (.stop, .response): return guarded.machine.attemptSucceeded(attempt)
            case (.stop, .failure): return guarded.machine.attemptFailed(attempt, isFatal: true, now: now)
            }
        }
        if isUnsent {
            if attempt > 1 {
                call.giveBack()
                parts.hedgesUnsent(1)
            }
        } else if let age {
            call.tracker.record(LatencySample(result, judgement), age: age)
        }
        carryOut(action, on: call, isInPlace: true)
        finish(call, isInPlace: true)
    }

    // MARK: Orders of the caller

    private func call(_ id: TransferID) -> HedgedCall? {
        guard id.rawValue & Self.hedgedBit != 0 else { return nil }
        return table.withLock { $0.calls[id] }
    }

    /// Whether the transfer is one of the transport beneath.
    private func isPlain(_ id: TransferID) -> Bool { id.rawValue & Self.hedgedBit == 0 }

    package func cancel(_ id: TransferID) {
        guard !isPlain(id) else { return base.cancel(id) }
        guard let call = call(id) else { return }
        let (action, order) = call.guarded.withLock { guarded -> (HedgeMachine.Action, (Int, TransferControl.Order)?) in
            // A streamed response that is being read.
            if let winner = guarded.winner {
                return (.none, guarded.legs[winner].map { _ in (winner, guarded.stop(winner)) })
            }
            return (guarded.cancelled(), nil)
        }
        if let order { perform(order.1, on: call, order.0) }
        carryOut(action, on: call, isInPlace: false)
    }

    package func pause(_ id: TransferID) { isPlain(id) ? base.pause(id) : setPaused(true, id) }
    package func resume(_ id: TransferID) { isPlain(id) ? base.resume(id) : setPaused(false, id) }

    private func setPaused(_ isPaused: Bool, _ id: TransferID) {
        guard let call = call(id) else { return }
        let orders = call.guarded.withLock { guarded -> [(Int, TransferControl.Order)] in
            guarded.isPaused = isPaused
            return guarded.legs.keys.sorted().map { ($0, guarded.legs[$0]?.control.setPaused(isPaused) ?? .none) }
        }
        for (attempt, order) in orders { perform(order, on: call, attempt) }
    }

    package func grant(_ id: TransferID, bytes: Int) {
        guard !isPlain(id) else { return base.grant(id, bytes: bytes) }
        guard bytes > 0, let call = call(id) else { return }
        let attempt = call.guarded.withLock { guarded -> TransferID? in
            if let winner = guarded.winner, let attempt = guarded.legs[winner]?.control.id { return attempt }
            let (sum, overflows) = guarded.owed.addingReportingOverflow(bytes)
            guarded.owed = overflows ? .max : sum
            return nil
        }
        if let attempt { base.grant(attempt, bytes: bytes) }
    }

    // Bodies that are written while they are sent are not hedged.

    package func write(_ bytes: UnsafeRawBufferPointer, to id: TransferID) {
        if isPlain(id) { base.write(bytes, to: id) }
    }

    package func write(shared bytes: SharedBytes, to id: TransferID) {
        if isPlain(id) { base.write(shared: bytes, to: id) }
    }

    package func finishUpload(_ id: TransferID) { if isPlain(id) { base.finishUpload(id) } }
    package func failUpload(_ id: TransferID) { if isPlain(id) { base.failUpload(id) } }
    package func restartUpload(_ id: TransferID, after attempt: Int) {
        if isPlain(id) { base.restartUpload(id, after: attempt) }
    }
    package func filesMayHaveChanged() { base.filesMayHaveChanged() }

    // MARK: The end

    func forget(_ call: HedgedCall) {
        table.withLock { _ = $0.calls.removeValue(forKey: call.id) }
    }

    package func shutdown(_ stopped: @escaping @Sendable () -> Void) {
        let calls = table.withLock { table in
            table.isClosing = true
            return table.calls.values.sorted { $0.id.rawValue < $1.id.rawValue }
        }
        timer.removeAll()
        for call in calls { stopIfWaiting(call) }
        // The transport beneath ends all attempts, and the calls with them.
        base.shutdown(stopped)
    }

    private func stopIfClosing(_ call: HedgedCall) {
        if table.withLock({ $0.isClosing }) { stopIfWaiting(call) }
    }

    /// Ends a call that has no attempt in flight: it waits for the time of the next one.
    private func stopIfWaiting(_ call: HedgedCall) {
        let action = call.guarded.withLock { guarded in
            guarded.legs.isEmpty && guarded.winner == nil ? guarded.cancelled() : .none
        }
        carryOut(action, on: call, isInPlace: false)
    }
}

/// A transfer that may have a next hedge.
protocol HedgeSubject: AnyObject, Sendable {
    /// The time of the next hedge has come; any thread.
    func delayElapsed(in transport: HedgingTransport)
}

extension HedgedCall: HedgeSubject {
    func delayElapsed(in transport: HedgingTransport) { transport.delayElapsed(self) }
}

/// The time of a transfer's next hedge. Keeps neither the transfer nor the transport alive: transfers that have not
/// ended are kept by the table or by the transport beneath.
struct HedgeTimer: Sendable {
    weak let subject: (any HedgeSubject)?
    let trail: AttemptTrail
    weak let transport: HedgingTransport?

    func fire() {
        if let subject, let transport { subject.delayElapsed(in: transport) }
    }
}
