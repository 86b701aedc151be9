import Errand
import HTTPTypes

/// Decides what a played transfer reports next. Pure: the owner holds a lock, gives the time, and acts.
struct PlayedTransferMachine {
    enum Action: Sendable {
        case none
        case deliver(TransferEvent.Kind)
        case sleep(until: Duration)
        /// The last report.
        case end(TransferResult)
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
    private var hold = Hold.none

    /// Whether the end of the script waits, and until when.
    private enum Hold {
        case none
        case forever
        case until(Duration)
    }
    /// The error that ends the transfer before anything else is reported.
    private var verdict: ErrandError?
    /// The time until which a task sleeps.
    private var timer: Duration?

    /// Whether the last report was decided.
    var hasEnded: Bool {
        if case .ended = state { true } else { false }
    }

    /// Whether there is no script yet.
    var isWaiting: Bool {
        if case .waiting = state { true } else { false }
    }

    /// Starts the script. Ignored if a script is already playing, or if the transfer has ended.
    mutating func play(_ script: TransferScript, now: Duration) {
        guard case .waiting = state else { return }
        state = .playing(since: now)
        steps = script.steps[...]
    }

    /// Ends the transfer with `error`; the first one counts.
    mutating func end(with error: ErrandError) { verdict = verdict ?? error }

    mutating func setPaused(_ isPaused: Bool) { self.isPaused = isPaused }

    /// Makes the end of the script wait for ``releaseEnd()``. A cancellation does not wait. `limit`: when the request's
    /// time is up; `nil`: the request has no time limit.
    mutating func holdEnd(until limit: Duration?) { hold = limit.map { Hold.until($0) } ?? .forever }

    mutating func releaseEnd() { hold = .none }

    mutating func grant(_ bytes: Int) {
        let (sum, overflows) = credit.addingReportingOverflow(max(0, bytes))
        credit = overflows ? .max : sum
    }

    /// Notes that this many bytes of an upload were written, and gives credit for as many more. If the bytes exceed the
    /// credit, the transfer ends.
    mutating func took(_ bytes: Int) {
        uploadCredit += UInt64(bytes)
        if uploadCredit > UInt64(Self.firstCredit) { end(with: .uploadOverrun) }
    }

    /// What to do now. Ask again after each action except `none` and `sleep`.
    mutating func next(now: Duration) -> Action {
        if case .ended = state { return .none }
        if let verdict { return end(.failure(verdict)) }
        if uploadCredit > 0 {
            defer { uploadCredit = 0 }
            return .deliver(.uploadCredit(uploadCredit))
        }
        guard case .playing(let since) = state, !isPaused, let step = steps.first else { return .none }
        let due = since + step.time
        guard due <= now else {
            guard timer != due else { return .none }
            timer = due
            return .sleep(until: due)
        }
        switch step.content {
        case .event(let event):
            steps.removeFirst()
            return .deliver(event)
        case .bytes(let bytes) where bytes.isEmpty:
            steps.removeFirst()
            return next(now: now)
        case .bytes(let bytes):
            guard credit > 0 else { return .none }
            let count = min(credit, bytes.count)
            credit -= count
            if count == bytes.count {
                steps.removeFirst()
            } else {
                steps[steps.startIndex].content = .bytes(bytes.dropFirst(count))
            }
            return .deliver(.chunk(Response(statusCode: 0, body: Array(bytes.prefix(count)))))
        case .end(let result):
            switch hold {
            case .none: return end(result)
            case .forever: return .none
            case .until(let limit):
                guard limit > now else { return end(.failure(.timeoutTotal)) }
                guard timer != limit else { return .none }
                timer = limit
                return .sleep(until: limit)
            }
        }
    }

    private mutating func end(_ result: TransferResult) -> Action {
        state = .ended
        steps = []
        return .end(result)
    }
}
