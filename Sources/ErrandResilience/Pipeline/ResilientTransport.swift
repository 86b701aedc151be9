import HTTPTypes
import Synchronization

/// Puts deadlines, retries, circuit breakers and limits between a client and its transport.
///
/// A transfer is a ``ResilientCall``, which receives the events of its attempts. No task exists while an attempt is in
/// flight; one exists while the call waits for a limit or for the next attempt. The call's machine decides under the
/// call's lock. Everything else (permits, orders to the transport beneath, events) happens after the lock is released.
///
/// The first attempt of a plain request needs no call: see `ResilientTransport+Watching.swift`. Its id is that of the
/// transport beneath. The ids of calls have the second highest bit set.
package final class ResilientTransport: StackedTransport {
    struct Table: ~Copyable {
        var calls = SlotTable<ResilientCall>()
        /// Called when the transport has stopped; `nil` before the shutdown.
        var waiters: [@Sendable () -> Void]?
        var isBaseStopped = false

        /// The id of the next call.
        var nextID: TransferID { TransferID(rawValue: ResilientTransport.callBit | calls.nextNumber) }

        /// The closures to call because everything has ended.
        mutating func stopIfIdle() -> [@Sendable () -> Void] {
            guard isBaseStopped, calls.count == 0, let all = waiters else { return [] }
            waiters = []
            return all
        }
    }

    package let base: any Transport
    let beneath: Beneath
    let settings: Resilience
    /// Whether first attempts of plain requests are watched.
    let watchesFirstAttempts: Bool
    /// The rules of calls whose command has none of its own, and those of attempts that another transport hedges.
    let rules: CallRules
    private let hedgedRules: CallRules
    let parts: ResilienceParts
    let stopwatch: Stopwatch
    /// Whether the attempts of a transfer share a trail: a retry goes to another endpoint, or a signer gets its number.
    private let needsTrail: Bool
    let deadlineHeader: DeadlineHeader?
    private let random: @Sendable () -> Double
    let table = Mutex(Table())
    private let keyedCache = Mutex(KeyedPartsCache())

    package convenience init(
        _ base: any Transport, _ settings: Resilience, parts: ResilienceParts? = nil, stopwatch: Stopwatch
    ) {
        let jitter = SharedJitter()
        self.init(base, settings, parts: parts, stopwatch: stopwatch, random: { jitter.next() })
    }

    /// `parts`: those of another client; `nil`: parts of its own. `random`: 0...1, for the waits before retries.
    package init(
        _ base: any Transport, _ settings: Resilience, parts: ResilienceParts? = nil, stopwatch: Stopwatch,
        random: @escaping @Sendable () -> Double
    ) {
        self.base = base
        beneath = Beneath(base)
        self.settings = settings
        self.random = random
        let retry = settings.retry ?? .never
        rules = CallRules(retry)
        hedgedRules = CallRules(retry.once)
        let parts = parts ?? ResilienceParts(settings, clock: stopwatch.clock)
        self.parts = parts
        // The parts take its readings, so that a transfer reads the clock once for all of them.
        self.stopwatch = parts.stopwatch
        needsTrail = beneath.plain is EndpointTransport || SigningTransport.isBeneath(base)
        deadlineHeader = settings.deadlineHeader == .never ? nil : settings.deadlineHeader
        // Limits delay attempts, and the others change the description of the first one.
        watchesFirstAttempts =
            parts.concurrency == nil && parts.rate == nil && retry.attemptTimeout == nil && deadlineHeader == nil
            && !(needsTrail && retry.maxAttempts > 1) && beneath.plain.hasShortIDs
    }

    /// The transfers that have not ended.
    package var count: Int { table.withLock { $0.calls.count } }

    // MARK: Submission

    package func submit(
        _ description: RequestDescription, for receiver: TransferReceiver
    ) throws(ErrandError) -> TransferID {
        let now = stopwatch.now()
        if mayWatch(description, for: receiver) { return try submitWatched(description, for: receiver, now: now) }
        let deadline = Self.deadline(of: description, now: now)
        if let deadline, deadline <= now { throw .deadlineExceeded.refused }
        let rules = rules(for: description)
        guard needsTrail || description.hasOwnEndpoints, rules.retry.maxAttempts > 1, description.trail == nil else {
            return try submit(description, for: receiver, rules, deadline: deadline, now: now)
        }
        var description = description
        description.trail = AttemptTrail()
        return try submit(description, for: receiver, rules, deadline: deadline, now: now)
    }

    private func rules(for description: RequestDescription) -> CallRules {
        guard description.hasRareMembers else { return rules }
        let isHedged = description.trail?.isHedged ?? false
        guard let choice = description.resilience else { return isHedged ? hedgedRules : rules }
        guard !choice.isOff else { return CallRules(.never, isExempt: true) }
        guard let retry = description.replacedResilience?.retry else { return isHedged ? hedgedRules : rules }
        // A call is hedged or retried, never both.
        return CallRules(isHedged ? retry.once : retry)
    }

    private func submit(
        _ description: RequestDescription, for receiver: TransferReceiver, _ rules: CallRules, deadline: Duration?,
        now: Duration
    ) throws(ErrandError) -> TransferID {
        let keyed = keyedParts(of: description, now: now)
        // Without limits nothing can delay the first attempt.
        let isAdmitted = rules.isExempt || keyed.concurrency == nil && keyed.rate == nil
        let permit: BreakerMachine.Permit?
        do throws(ErrandError) {
            permit = isAdmitted && !rules.isExempt ? try self.permit(of: keyed.breaker, now: now) : nil
        } catch {
            guard table.withLock({ $0.waiters == nil }) else { throw .shutDown }
            description.tell(receiver, refusedSubmission: error, name: keyed.key)
            throw error
        }
        let call = table.withLock { table -> ResilientCall? in
            guard table.waiters == nil else { return nil }
            let call = ResilientCall(
                table.nextID, description, for: receiver, keyed, rules, start: now,
                deadline: deadline, isAdmitted: isAdmitted, permit, of: self)
            table.calls.add(call)
            return call
        }
        guard let call else {
            if let permit { keyed.breaker?.released(permit, .ignored, now: now) }
            throw .shutDown
        }
        let id = call.id
        do throws(ErrandError) {
            if isAdmitted { try sendAttempt(1, of: call, now: now) } else { try begin(call, now: now) }
        } catch {
            let decision = call.decide { $0.refused(error, attempt: 1) }
            // Otherwise a shutdown has ended the call already.
            guard case .end = decision.action else {
                noteTransfer(description)
                return id
            }
            call.release()
            forget(call)
            description.tell(receiver, refusedSubmission: error, name: keyed.key)
            throw error
        }
        noteTransfer(description)
        return id
    }

    /// A transfer was accepted. ``HedgingTransport`` counts those that it hedges.
    private func noteTransfer(_ description: RequestDescription) {
        if !(description.hasRareMembers && description.trail?.isHedged ?? false) { parts.transferBegan() }
    }

    /// The parts of a request: those of its command, or those of its origin.
    func keyedParts(of description: RequestDescription, now: Duration) -> KeyedParts {
        if description.hasRareMembers, let replaced = description.replacedResilience, replaced.isKeptApart {
            return parts.keyed(by: replaced.name ?? URLReference(description.url).origin, replaced)
        }
        return firstAttempts(of: description, now: now).parts
    }

    /// The watcher of plain requests to the URL's origin, with the origin's parts.
    func firstAttempts(of description: RequestDescription, now: Duration) -> FirstAttempts {
        if let known = keyedCache.withLock({ $0.attempts(of: description, now: now) }) { return known }
        let found = parts.keyed(by: URLReference(description.url).origin)
        return keyedCache.withLock { $0.store(found, of: description.url, now: now, self) }
    }

    private func begin(_ call: ResilientCall, now: Duration) throws(ErrandError) {
        let decision = call.decide { $0.started(now: now) }
        guard case .admit(let attempt) = decision.action else { return perform(decision, on: call) }
        try admit(call, attempt: attempt, now: now)
    }

    /// Sends an attempt that has its permits. Throws where the transport beneath refuses it.
    func send(_ call: ResilientCall, attempt: Int, _ admission: Admission) throws(ErrandError) {
        var isWanted = false
        _ = call.decide { machine in
            isWanted = machine.willSubmit(attempt)
            return .init(action: .none)
        }
        guard isWanted else { return admission.drop() }
        call.guarded.withLock { $0.admission = admission }
        try sendAttempt(attempt, of: call, now: stopwatch.now())
    }

    /// Hands an attempt to the transport beneath, which may end it before this function returns.
    private func sendAttempt(_ attempt: Int, of call: ResilientCall, now: Duration) throws(ErrandError) {
        let changed = try changedDescription(of: call, now: now)
        let trail = call.description.hasRareMembers ? call.description.trail : nil
        // Before the attempt can end: the end decides what the transfer's hedges have cost.
        let sent = trail?.attemptSent(at: now) ?? 1
        if let trail {
            if trail.isHedged { (call.receiver as? HedgeReceiver)?.attemptSent(at: now) }
            if trail.isDryRun, attempt == 1 { (call.receiver as? HedgeDryRun)?.firstAttemptSent(at: now) }
        }
        let resend = attempt > 1 || sent > 1 ? call.resendReason(of: attempt, sent: sent) : nil
        // Before the attempt's own events.
        if let resend {
            call.note(resend: resend)
            tell(call, .resending(resend))
        }
        let pays = attempt == 1 && trail?.takeDeposit() ?? true
        if pays { call.pay(now: now) }
        let id: TransferID
        do throws(ErrandError) {
            if let changed {
                id = try beneath.submit(changed, for: call)
            } else {
                id = try beneath.submit(call.description, for: call)
            }
        } catch {
            trail?.attemptRefused()
            if let resend { tell(call, .notResent(resend)) }
            if pays { takeBackPayment(of: call, trail) }
            throw error
        }
        parts.attemptSent()
        let decision = call.opened(attempt, id)
        if call.isOwing {
            let owed = call.takeOwed(to: id)
            if owed > 0 { base.grant(id, bytes: owed) }
            if call.description.isWritten { passOnUpload(of: call, attempt, id) }
        }
        if let decision { perform(decision, on: call) }
    }

    // MARK: The transport beneath reports here, on the receiver's queue

    /// The first attempt's response is that of the call, without a decision.
    func firstAnswered(_ call: ResilientCall, status: Int, _ permit: BreakerMachine.Permit?) {
        if let permit { call.keyed.breaker?.released(permit, BreakerOutcome(status: status), now: nil) }
    }

    /// The attempt was not sent: the next one pays instead. If a hedge was sent meanwhile, the attempt's payment covers
    /// the hedge, which gives its own token back.
    private func takeBackPayment(of call: ResilientCall, _ trail: AttemptTrail?) {
        if trail?.attemptsSent ?? 0 == 0, call.takeBackPayment() { trail?.returnDeposit() }
    }

    func attemptEnded(_ call: ResilientCall, _ result: TransferResult) {
        let (now, random) = (stopwatch.now(), random(for: result.mayBeRetried(call.rules)))
        call.takeAdmission()?.ended(result, isCutShort: call.attemptIsCutShort, now: now)
        if case .failure(let error) = result, error.isRefusal {
            // The transport beneath has accepted the attempt, but nothing of it was sent.
            let trail = call.description.hasRareMembers ? call.description.trail : nil
            trail?.attemptRefused()
            if let resend = call.takeResend() { call.receiver.receive(.notResent(resend)) }
            takeBackPayment(of: call, trail)
        } else {
            call.keepPayment()
        }
        perform(call.decide { $0.attemptEnded(result, now: now, random: random) }, on: call, inPlace: true)
    }

    func headArrived(_ head: Response, of call: ResilientCall) {
        if case .streamed = call.description.delivery,
            var admission = call.takeAdmission()
        {
            admission.headArrived(head)
            // The end of the attempt comes on this queue too, so nobody has missed the permits.
            call.guarded.withLock { $0.admission = admission }
        }
        let (now, random) = (stopwatch.now(), random(for: call.rules.retries(head.statusCode)))
        perform(call.decide { $0.headReceived(head, now: now, random: random) }, on: call, inPlace: true, of: head)
    }

    private func random(for isNeeded: Bool) -> Double { isNeeded ? random() : 0 }

    // MARK: Decisions

    /// `inPlace`: called on the receiver's queue. `head`: the head that the decision is about.
    func perform(
        _ first: ResilientCallMachine.Decision, on call: ResilientCall, inPlace: Bool = false, of head: Response? = nil
    ) {
        var decision = first
        while true {
            if decision.givesBackToken { call.giveBackToken() }
            if let stop = decision.stop { notRetried(call, stop, inPlace: inPlace) }
            switch decision.action {
            case .none, .order(.none): return
            case .pass: return head.map { call.receiver.receive(.head($0)) } ?? ()
            case .passHead(let head): return call.receiver.receive(.head(head))
            case .order(let order):
                base.perform(order)
                decision = call.decide { $0.performed(order) }
            case .askBudget:
                let now = stopwatch.now()
                let isGranted = call.withdraw(now: now)
                decision = call.decide { $0.budgetAnswered(granted: isGranted, now: now) }
            case .reject(let order, let news):
                announce(news, of: call)
                base.perform(order)
                return
            case .wait(let until, let news):
                if let news { announce(news, of: call) }
                return wait(call, until: until)
            case .admit(let attempt):
                return retry(call, attempt: attempt)
            case .end(let outcome):
                return end(call, outcome, inPlace: inPlace)
            }
        }
    }

    /// Called on the receiver's queue: the budget is asked there only.
    private func announce(_ news: TransferRetry, of call: ResilientCall) {
        parts.retryDecided(news.reason)
        call.note(news)
        call.receiver.receive(.retrying(news))
    }

    /// No retry follows an attempt that the policy would retry. `inPlace`: called on the receiver's queue.
    private func notRetried(_ call: ResilientCall, _ stop: RetryStop, inPlace: Bool) {
        parts.retryStopped(stop)
        let decision = ResilienceDecision.notRetried(reason: stop.rawValue)
        guard inPlace else { return call.description.tell(call.receiver, decision) }
        // Before the end, which is handed over in place too.
        if call.description.reports.contains(.events) { call.receiver.receive(.decided(decision)) }
    }

    /// Hands an event to the caller, on any thread. The request counts what is sent, whether or not somebody observes
    /// events.
    private func tell(_ call: ResilientCall, _ event: TransferEvent.Kind) {
        TransferReceiver.deliver(CollectionOfOne(TransferEvent(call.receiver, event)))
    }

    private func wait(_ call: ResilientCall, until: Duration) {
        guard until > stopwatch.now() else { return waitElapsed(call) }
        wait(call) { [self] in
            let left = min(max(until - stopwatch.now(), .zero), .longestSleep)
            guard (try? await stopwatch.sleep(for: left)) != nil else {
                // The task is cancelled only when the call is over; otherwise the client's clock has failed.
                return Task.isCancelled ? () : cancel(call.id)
            }
            waitElapsed(call)
        }
    }

    /// Starts a task that waits. A shutdown that did not find the call waiting ends the call here.
    func wait(_ call: ResilientCall, _ step: @escaping @Sendable () async -> Void) {
        call.wait(step)
        guard table.withLock({ $0.waiters != nil }) else { return }
        perform(call.decide { $0.transportStops() }, on: call)
    }

    private func waitElapsed(_ call: ResilientCall) {
        let now = stopwatch.now()
        perform(call.decide { $0.waitElapsed(now: now) }, on: call)
    }

    private func retry(_ call: ResilientCall, attempt: Int) {
        do throws(ErrandError) {
            try admit(call, attempt: attempt, now: stopwatch.now())
        } catch {
            refused(call, error, attempt: attempt)
        }
    }

    /// An attempt was refused after `submit` has returned.
    func refused(_ call: ResilientCall, _ error: ErrandError, attempt: Int) {
        call.description.tell(call.receiver, refusal: error, name: call.key)
        perform(call.decide { $0.refused(error.refused, attempt: attempt) }, on: call)
    }

    private func end(_ call: ResilientCall, _ outcome: ResilientCallMachine.Outcome, inPlace: Bool) {
        call.release()
        if inPlace {
            if let head = outcome.head { call.receiver.receive(.head(head)) }
            call.receiver.receive(.ended(outcome.result))
        } else {
            let head = outcome.head.map { TransferEvent(call.receiver, .head($0)) }
            TransferReceiver.deliver(
                [head, TransferEvent(call.receiver, .ended(outcome.result))].compactMap(\.self))
        }
        forget(call)
    }

    func forget(_ call: ResilientCall) {
        let waiters = table.withLock { table in
            _ = table.calls.remove(call.id.rawValue & ~Self.callBit)
            return table.stopIfIdle()
        }
        for stopped in waiters { stopped() }
    }

    // MARK: Orders of the caller

    private func call(_ id: TransferID) -> ResilientCall? {
        table.withLock { $0.calls[id.rawValue & ~Self.callBit] }
    }

    private func control(
        _ id: TransferID, _ body: (inout ResilientCallMachine) -> ResilientCallMachine.Decision
    ) {
        guard let call = call(id) else { return }
        perform(call.decide(body), on: call)
    }

    package func cancel(_ id: TransferID) {
        if isWatched(id) { base.cancel(id) } else { control(id) { $0.cancelRequested() } }
    }

    package func pause(_ id: TransferID) {
        if isWatched(id) { base.pause(id) } else { control(id) { $0.setPaused(true) } }
    }

    package func resume(_ id: TransferID) {
        if isWatched(id) { base.resume(id) } else { control(id) { $0.setPaused(false) } }
    }

    // Watched transfers have neither a streamed response nor a written body.

    package func grant(_ id: TransferID, bytes: Int) {
        guard bytes > 0, !isWatched(id), let call = call(id) else { return }
        let attempt = call.guarded.withLock { guarded -> TransferID? in
            if let attempt = guarded.attemptID { return attempt }
            let (sum, overflows) = guarded.owed.addingReportingOverflow(bytes)
            guarded.owed = overflows ? .max : sum
            return nil
        }
        if let attempt { base.grant(attempt, bytes: bytes) }
    }

    package func write(_ bytes: UnsafeRawBufferPointer, to id: TransferID) {
        if let attempt = uploading(id, { $0.written(bytes) }) { base.write(bytes, to: attempt) }
    }

    package func write(shared bytes: SharedBytes, to id: TransferID) {
        if let attempt = uploading(id, { $0.written(shared: bytes) }) { base.write(shared: bytes, to: attempt) }
    }

    package func finishUpload(_ id: TransferID) {
        if let attempt = uploading(id, { $0.ended(.finished) }) { base.finishUpload(attempt) }
    }

    package func failUpload(_ id: TransferID) {
        if let attempt = uploading(id, { $0.ended(.failed) }) { base.failUpload(attempt) }
    }

    package func restartUpload(_ id: TransferID, after attempt: Int) {
        guard !isWatched(id) else { return }
        call(id)?.guarded.withLock { $0.upload.restarted(after: attempt) }
    }

    /// The transfer beneath to upload to. `nil`: `keep` keeps what was written, or drops it.
    private func uploading(_ id: TransferID, _ keep: (inout UploadBacklog) -> Void) -> TransferID? {
        guard !isWatched(id) else { return nil }
        return call(id)?.guarded.withLock { guarded in
            if let target = guarded.upload.target { return target }
            keep(&guarded.upload)
            return nil
        }
    }

    private func passOnUpload(of call: ResilientCall, _ attempt: Int, _ id: TransferID) {
        while let piece = call.guarded.withLock({ $0.upload.next(for: attempt, id) }) {
            switch piece {
            case .parts(let parts): for part in parts { part.write(to: id, of: base) }
            case .finish: base.finishUpload(id)
            case .fail: base.failUpload(id)
            }
        }
    }

    // MARK: The end

    package func filesMayHaveChanged() { base.filesMayHaveChanged() }

    package func shutdown(_ stopped: @escaping @Sendable () -> Void) {
        let calls = table.withLock { table in
            table.waiters = (table.waiters ?? []) + [stopped]
            return table.calls.values.sorted { $0.id.rawValue < $1.id.rawValue }
        }
        for call in calls { perform(call.decide { $0.transportStops() }, on: call) }
        base.shutdown { [self] in
            let waiters = table.withLock { table in
                table.isBaseStopped = true
                return table.stopIfIdle()
            }
            for stopped in waiters { stopped() }
        }
    }
}
