import Errand
import HTTPTypes

/// Decides what a played transfer reports next. Pure: the owner holds a lock, gives the time, and acts.
struct PlayedTransferMachine {
    enum Action: Sendable {
        case none
        case deliver(TransferEvent.Kind)
        /// In place of an earlier sleep.
        case sleep(until: Duration)
        /// The sleep is not needed any more.
        case wake
        /// The last report.
        case end(TransferResult)
        /// The last report: a timeout of the request has ended a transfer without a script.
        case timedOut(ErrandError)
    }

    private enum State {
        /// There is no script yet.
        case waiting
        case playing(since: Duration)
        case ended
    }

    /// The engine's credit before the first grant, in both directions.
    static let firstCredit = 262_144

    private var state = State.waiting
    private var steps: ArraySlice<TransferScript.Step> = []
    private var credit = firstCredit
    private var uploadCredit: UInt64 = 0
    private var isPaused = false
    /// Whether the end of the script waits.
    private var isHeld = false
    /// The error that ends the transfer before anything else is reported.
    private var verdict: ErrandError?
    /// The time until which a task sleeps.
    private var timer: Duration?
    /// When the time for the whole transfer is up; `nil`: never.
    private var total: Duration?
    /// The longest time without a byte while the upload is open; `nil`: no limit.
    private var idle: Duration?
    /// When a byte was written or delivered last, or when a pause ended.
    private var lastByte: Duration

    /// `total` and `idle` limit a transfer that has no script yet, or whose end waits for the upload. `total`: when the
    /// time for the whole transfer is up. `idle`: the longest time without a byte while the upload is open.
    init(total: Duration? = nil, idle: Duration? = nil, now: Duration = .zero) {
        self.total = total
        self.idle = idle
        lastByte = now
    }

    /// Whether the last report was decided.
    var hasEnded: Bool {
        if case .ended = state { true } else { false }
    }

    /// Whether there is no script yet.
    var isWaiting: Bool {
        if case .waiting = state { true } else { false }
    }

    /// Starts the script. Ignored if a script is already playing, or if the transfer has ended or its time is up.
    mutating func play(_ script: TransferScript, now: Duration) {
        guard case .waiting = state else { return }
        // The sleep until then may be over later than the handler that made the script.
        if let total, total <= now { return }
        state = .playing(since: now)
        steps = script.steps[...]
    }

    /// Ends the transfer with `error`; the first one counts.
    mutating func end(with error: ErrandError) { verdict = verdict ?? error }

    /// After a pause the idle timeout begins anew, as in the engine.
    mutating func setPaused(_ isPaused: Bool, now: Duration) {
        if self.isPaused, !isPaused { lastByte = max(lastByte, now) }
        self.isPaused = isPaused
    }

    /// Makes the end of the script wait for ``releaseEnd()``, or for a timeout. A cancellation does not wait.
    mutating func holdEnd() { isHeld = true }

    mutating func releaseEnd() { isHeld = false }

    /// No byte of the upload will come any more, so the idle timeout does not count.
    mutating func uploadIsOver() { idle = nil }

    /// From now on another transport applies the timeouts.
    mutating func liftTimeouts() {
        total = nil
        idle = nil
    }

    /// The sleep until `due` is over.
    mutating func woke(from due: Duration) {
        if timer == due { timer = nil }
    }

    mutating func grant(_ bytes: Int) {
        let (sum, overflows) = credit.addingReportingOverflow(max(0, bytes))
        credit = overflows ? .max : sum
    }

    /// Notes that this many bytes of an upload were written, and gives credit for as many more. If the bytes exceed the
    /// credit, the transfer ends.
    mutating func took(_ bytes: Int, now: Duration) {
        lastByte = max(lastByte, now)
        uploadCredit += UInt64(bytes)
        if uploadCredit > UInt64(Self.firstCredit) { end(with: .uploadOverrun) }
    }

    /// What to do now. Ask again after each action except `none`, `sleep` and the last report.
    mutating func next(now: Duration) -> Action {
        if case .ended = state { return .none }
        if let verdict { return end(.failure(verdict)) }
        if uploadCredit > 0 {
            defer { uploadCredit = 0 }
            return .deliver(.uploadCredit(uploadCredit))
        }
        guard case .playing(let since) = state else { return wait(now: now) }
        guard !isPaused else { return .none }
        guard let step = steps.first else { return rest() }
        let due = since + step.time
        guard due <= now else {
            guard timer != due else { return .none }
            timer = due
            return .sleep(until: due)
        }
        switch step.content {
        case .event(let event):
            steps.removeFirst()
            lastByte = max(lastByte, now)
            return .deliver(event)
        case .bytes(let bytes) where bytes.isEmpty:
            steps.removeFirst()
            return next(now: now)
        case .bytes(let bytes):
            guard credit > 0 else { return rest() }
            lastByte = max(lastByte, now)
            let count = min(credit, bytes.count)
            credit -= count
            if count == bytes.count {
                steps.removeFirst()
            } else {
                steps[steps.startIndex].content = .bytes(bytes.dropFirst(count))
            }
            return .deliver(.chunk(Response(statusCode: 0, body: Array(bytes.prefix(count)))))
        case .end(let result):
            return isHeld ? wait(now: now) : end(result)
        }
    }

    /// Waits for a script, or for the end of the upload, until the first of the timeouts.
    private mutating func wait(now: Duration) -> Action {
        // As in the engine, a pause stops the idle timeout only.
        let silence = isPaused ? nil : idle.map { lastByte + $0 }
        guard let due = [silence, total].compactMap(\.self).min() else { return rest() }
        guard due > now else {
            let error: ErrandError = due == silence ? .timeoutIdle : .timeoutTotal
            guard isWaiting else { return end(.failure(error)) }
            state = .ended
            return .timedOut(error)
        }
        // A sleep that is over earlier stays, so that a write does not start a task.
        if let timer, timer <= due { return .none }
        timer = due
        return .sleep(until: due)
    }

    /// Waits for an order of the receiver, without a sleep.
    private mutating func rest() -> Action {
        defer { timer = nil }
        return timer == nil ? .none : .wake
    }

    private mutating func end(_ result: TransferResult) -> Action {
        state = .ended
        steps = []
        return .end(result)
    }
}
