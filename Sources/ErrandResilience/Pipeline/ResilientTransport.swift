import HTTPTypes
import Synchronization

/// Puts deadlines, retries, circuit breakers and limits between a client and its transport.
///
/// A transfer is a ``ResilientCall``, which receives the events of its attempts. No task exists while an attempt is in
/// flight; one exists while the call waits for a limit or for the next attempt. The call's machine decides under the
/// call's lock. Everything else (permits, orders to the transport beneath, events) happens after the lock is released.
package final class ResilientTransport: StackedTransport {
    private struct Table: ~Copyable {
        var calls = SlotTable<ResilientCall>()
        /// Called when the transport has stopped; `nil` before the shutdown.
        var waiters: [@Sendable () -> Void]?
        var isBaseStopped = false

        /// The closures to call because everything has ended.
        mutating func stopIfIdle() -> [@Sendable () -> Void] {
            guard isBaseStopped, calls.count == 0, let all = waiters else { return [] }
            waiters = []
            return all
        }
    }

    package let base: any Transport
    let settings: Resilience
    let retry: RetryPolicy
    let parts: ResilienceParts
    let stopwatch: Stopwatch
    /// Whether the transport beneath chooses endpoints, so that a retry goes to another one.
    private let hasEndpoints: Bool
    private let random: @Sendable () -> Double
    private let table = Mutex(Table())
    private let keyedCache = Mutex(KeyedPartsCache())

    package convenience init(
        _ base: any Transport, _ settings: Resilience, parts: ResilienceParts? = nil, stopwatch: Stopwatch
    ) {
        let jitter = JitterBox()
        self.init(base, settings, parts: parts, stopwatch: stopwatch, random: { jitter.next() })
    }

    /// `parts`: those of another client; `nil`: parts of its own. `random`: 0...1, for the waits before retries.
    package init(
        _ base: any Transport, _ settings: Resilience, parts: ResilienceParts? = nil, stopwatch: Stopwatch,
        random: @escaping @Sendable () -> Double
    ) {
        self.base = base
        self.settings = settings
        self.random = random
        retry = settings.retry ?? .never
        let parts = parts ?? ResilienceParts(settings, clock: stopwatch.clock)
        self.parts = parts
        // The parts take its readings, so that a transfer reads the clock once for all of them.
        self.stopwatch = parts.stopwatch
        hasEndpoints = base is EndpointTransport
    }

    /// The transfers that have not ended.
    package var count: Int { table.withLock { $0.calls.count } }

    // MARK: Submission

    package func submit(
        _ description: RequestDescription, for receiver: TransferReceiver
    ) throws(ErrandError) -> TransferID {
        let now = stopwatch.now()
        let deadline = Self.deadline(of: description, now: now)
        if let deadline, deadline <= now { throw .timeoutTotal }
        guard let call = call(description, for: receiver, deadline: deadline, now: now) else { throw .shutDown }
        let id = call.id
        do throws(ErrandError) {
            try begin(call, now: now)
        } catch {
            let decision = call.decide { $0.refused(error, attempt: 1) }
            // Otherwise a shutdown has ended the call already.
            guard case .end = decision.action else { return id }
            call.release()
            forget(call)
            throw error
        }
        if !(description.trail?.isHedged ?? false) { parts.transferBegan() }
        return id
    }

    /// Makes a call and enters it in the table; `nil` after a shutdown.
    private func call(
        _ description: RequestDescription, for receiver: TransferReceiver, deadline: Duration?, now: Duration
    ) -> ResilientCall? {
        var description = description
        let replaced = description.replacedResilience
        let keyed = keyedParts(of: description, now: now)
        var policy = description.isExempt ? .never : replaced?.retry ?? retry
        // A call is hedged or retried, never both.
        if description.trail?.isHedged ?? false { policy = policy.once }
        if hasEndpoints, description.trail == nil, policy.maxAttempts > 1 {
            description.trail = AttemptTrail(isHedged: false)
        }
        // Without retries nothing asks.
        let subject =
            policy.maxAttempts == 1 ? RetrySubject(isRepeatable: true) : RetrySubject(description, policy)
        return table.withLock { table in
            guard table.waiters == nil else { return nil }
            let call = ResilientCall(
                TransferID(rawValue: table.calls.nextNumber), description, for: receiver, keyed, policy: policy,
                subject,
                deadline: deadline, of: self)
            table.calls.add(call)
            return call
        }
    }

    /// The budget and the breaker of a request.
    func keyedParts(of description: RequestDescription, now: Duration) -> KeyedParts {
        if let name = description.replacedResilience?.name { return keyedParts(for: name) }
        if let known = keyedCache.withLock({ $0.parts(of: description.url, now: now) }) { return known }
        let found = keyedParts(for: URLReference(description.url).origin)
        keyedCache.withLock { $0.store(found, of: description.url, now: now) }
        return found
    }

    private func keyedParts(for key: String) -> KeyedParts {
        KeyedParts(
            key: key, budget: parts.budgets?.budget(for: key), breaker: parts.breakers?.breaker(for: key))
    }

    static func deadline(of description: RequestDescription, now: Duration) -> Duration? {
        let total = description.settings.timeouts.total?.duration.map { now + $0 }
        // Other requests may join a shared transfer. The deadline of the one that opened it is not theirs.
        let isShared = description.options.contains(.coalesced) || description.sendingMoment != nil
        let task = isShared ? nil : Deadline.current?.reading(of: now)
        return [total, task].compactMap(\.self).min()
    }

    private func begin(_ call: ResilientCall, now: Duration) throws(ErrandError) {
        let decision = call.decide { $0.started(now: now) }
        guard case .admit(let attempt) = decision.action else { return perform(decision, on: call) }
        try admit(call, attempt: attempt, now: now)
    }

    /// Sends an attempt that has its permits. Throws where the transport beneath refuses it.
    func send(_ call: ResilientCall, attempt: Int, _ admission: Admission, now: Duration) throws(ErrandError) {
        var description = call.description
        let total = try timeout(of: call, now: now)
        if total != description.settings.timeouts.total?.duration {
            description.settings = try description.settings.with(total: total)
        }
        if let header = settings.deadlineHeader, let total {
            guard let field = header.field(remaining: total) else { throw .timeoutTotal.refused }
            try description.headers.set(field.name, to: field.value)
        }
        let isWanted = call.guarded.withLock { guarded in
            guard guarded.machine.willSubmit(attempt) else { return false }
            guarded.admission = admission
            return true
        }
        guard isWanted else { return admission.drop() }
        let id = try base.submit(description, for: call)
        parts.attemptSent()
        if attempt == 1, description.trail?.takeDeposit() ?? true { call.budget?.deposit(now: now) }
        let (decision, owed) = call.guarded.withLock { guarded in
            let decision = guarded.machine.opened(id, attempt: attempt)
            guard guarded.machine.attemptID == id else { return (decision, 0) }
            defer { guarded.owed = 0 }
            return (decision, guarded.owed)
        }
        if owed > 0 { base.grant(id, bytes: owed) }
        if description.isWritten { passOnUpload(of: call, to: id) }
        perform(decision, on: call)
    }

    /// The time for an attempt; `nil`: no limit.
    private func timeout(of call: ResilientCall, now: Duration) throws(ErrandError) -> Duration? {
        let left = call.deadline.map { $0 - now }
        if let left, left <= .zero { throw .timeoutTotal.refused }
        return [call.policy.attemptTimeout, left].compactMap(\.self).min().map { min($0, Timeouts.maximum) }
    }

    // MARK: The transport beneath reports here, on the receiver's queue

    func attemptEnded(_ call: ResilientCall, _ result: TransferResult) {
        let (now, random) = (stopwatch.now(), random(for: result.retriedStatus(call.policy)))
        call.guarded.withLock { $0.admission.take() }?.ended(result, now: now)
        perform(call.decide { $0.attemptEnded(result, now: now, random: random) }, on: call, inPlace: true)
    }

    func headArrived(_ head: Response, of call: ResilientCall) {
        if case .streamed = call.description.delivery,
            var admission = call.guarded.withLock({ $0.admission.take() })
        {
            admission.headArrived(head)
            // The end of the attempt comes on this queue too, so nobody has missed the permits.
            call.guarded.withLock { $0.admission = admission }
        }
        let (now, random) = (stopwatch.now(), random(for: call.policy.statusCodes.contains(head.statusCode)))
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
            if decision.givesBackToken { call.budget?.giveBack() }
            switch decision.action {
            case .none, .order(.none): return
            case .pass: return head.map { call.receiver.receive(.head($0)) } ?? ()
            case .passHead(let head): return call.receiver.receive(.head(head))
            case .order(let order):
                base.perform(order)
                decision = call.decide { $0.performed(order) }
            case .askBudget:
                let isGranted = call.budget?.withdraw() ?? true
                let now = stopwatch.now()
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
        // The request counts it, whether or not somebody observes events.
        call.receiver.receive(.retrying(news))
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

    private func forget(_ call: ResilientCall) {
        let waiters = table.withLock { table in
            _ = table.calls.remove(call.id.rawValue)
            return table.stopIfIdle()
        }
        for stopped in waiters { stopped() }
    }

    // MARK: Orders of the caller

    private func call(_ id: TransferID) -> ResilientCall? { table.withLock { $0.calls[id.rawValue] } }

    private func control(
        _ id: TransferID, _ body: (inout ResilientCallMachine) -> ResilientCallMachine.Decision
    ) {
        guard let call = call(id) else { return }
        perform(call.decide(body), on: call)
    }

    package func cancel(_ id: TransferID) { control(id) { $0.cancelRequested() } }
    package func pause(_ id: TransferID) { control(id) { $0.setPaused(true) } }
    package func resume(_ id: TransferID) { control(id) { $0.setPaused(false) } }

    package func grant(_ id: TransferID, bytes: Int) {
        guard bytes > 0, let call = call(id) else { return }
        let attempt = call.guarded.withLock { guarded -> TransferID? in
            if let attempt = guarded.machine.attemptID { return attempt }
            let (sum, overflows) = guarded.owed.addingReportingOverflow(bytes)
            guarded.owed = overflows ? .max : sum
            return nil
        }
        if let attempt { base.grant(attempt, bytes: bytes) }
    }

    package func write(_ bytes: UnsafeRawBufferPointer, to id: TransferID) {
        if let attempt = uploading(id, { $0.written(bytes) }) { base.write(bytes, to: attempt) }
    }

    package func finishUpload(_ id: TransferID) {
        if let attempt = uploading(id, { $0.ended(.finished) }) { base.finishUpload(attempt) }
    }

    package func failUpload(_ id: TransferID) {
        if let attempt = uploading(id, { $0.ended(.failed) }) { base.failUpload(attempt) }
    }

    /// The attempt to upload to. `nil`: the transport beneath does not have it yet, and `keep` keeps what was written.
    private func uploading(_ id: TransferID, _ keep: (inout UploadBacklog) -> Void) -> TransferID? {
        call(id)?.guarded.withLock { guarded in
            if guarded.upload.isPassedOn { return guarded.machine.attemptID }
            keep(&guarded.upload)
            return nil
        }
    }

    private func passOnUpload(of call: ResilientCall, to id: TransferID) {
        while let piece = call.guarded.withLock({ $0.upload.next() }) {
            switch piece {
            case .bytes(let bytes): bytes.withUnsafeBytes { base.write($0, to: id) }
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

/// A ``JitterSource`` that threads share.
private final class JitterBox: Sendable {
    private let source = Mutex(JitterSource())

    func next() -> Double { source.withLock { $0.next() } }
}

extension TransferResult {
    /// Whether a retry may follow, so that its wait is needed.
    fileprivate func retriedStatus(_ policy: RetryPolicy) -> Bool {
        switch self {
        case .response(let response): policy.statusCodes.contains(response.statusCode)
        case .failure: true
        }
    }
}
