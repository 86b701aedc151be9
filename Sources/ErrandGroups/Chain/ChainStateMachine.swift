/// One run of a chain: which step is next, and when the chain ends. Pure; steps are identified by their numbers in a
/// table that only grows.
struct ChainStateMachine: ~Copyable {
    enum State: Equatable {
        case idle
        case running(Int)
        /// The user's callback decides how to continue after this step. `stop`: the chain was stopped meanwhile, which
        /// takes precedence over the decision.
        case deciding(Int, stop: GroupEnding?)
        /// This step runs again when the delay has passed.
        case waiting(Int)
        /// The running step has been stopped; the chain waits for its end.
        case stopping(GroupEnding)
        case ended(GroupEnding)
    }

    private(set) var state = State.idle
    /// The next steps, in reverse order.
    private var upcoming: [Int] = []
    /// The steps that run after `upcoming`, in order.
    private var appended: [Int] = []

    /// The remaining steps, in order.
    var left: [Int] { upcoming.reversed() + appended }

    mutating func started(steps: [Int]) -> GroupAction {
        switch state {
        case .idle, .ended:
            upcoming = steps.reversed()
            return next()
        case .running, .deciding, .waiting, .stopping:
            // Unreachable without a bug in this library: a request is not submitted twice at a time.
            preconditionFailure("started in \(state)")
        }
    }

    mutating func childEnded(_ index: Int, succeeded: Bool) -> GroupAction {
        switch state {
        case .running:
            state = .deciding(index, stop: nil)
            return .ask(index)
        case .stopping(let ending):
            return end(ending)
        case .idle, .deciding, .waiting, .ended:
            // Unreachable without a bug in this library: a started step ends once.
            preconditionFailure("childEnded in \(state)")
        }
    }

    /// The user has decided; `inserted` and `appended` are added before the decision applies.
    mutating func decided(
        _ decision: ChainMoves.Decision, inserted: [Int] = [], appended: [Int] = []
    ) -> GroupAction {
        guard case .deciding(let step, let stop) = state else {
            // Unreachable without a bug in this library: the user is asked once for each end of a step.
            preconditionFailure("decided in \(state)")
        }
        if let stop { return end(stop) }
        upcoming += inserted.reversed()
        self.appended += appended
        switch decision {
        case .goOn:
            return next()
        case .again(let delay) where delay > .zero:
            state = .waiting(step)
            return .wait(step, delay)
        case .again:
            state = .running(step)
            return .startEach([step])
        case .skip(let count):
            for _ in 0..<min(count, upcoming.count + self.appended.count) { _ = take() }
            return next()
        case .finish:
            return end(.succeeded)
        case .abort:
            return end(.failed(step))
        }
    }

    /// Returns whether a step could be added at the end; false once the chain cannot run another step.
    mutating func appendRequested(_ step: Int) -> Bool {
        switch state {
        case .running, .deciding(_, stop: nil), .waiting:
            appended.append(step)
            return true
        case .idle, .deciding, .stopping, .ended:
            return false
        }
    }

    /// The delay has passed. Returns whether the step is to be started.
    mutating func delayElapsed() -> Bool {
        guard case .waiting(let step) = state else { return false }
        state = .running(step)
        return true
    }

    mutating func stopRequested(_ ending: GroupEnding) -> GroupAction {
        switch state {
        case .running:
            state = .stopping(ending)
            return .stopRunning
        case .deciding(let step, let stop):
            if stop == nil || ending == .stopped { state = .deciding(step, stop: ending) }
            return .none
        case .waiting:
            return end(ending)
        case .stopping:
            // A stop takes precedence over an ending that was decided but not reported yet.
            if ending == .stopped { state = .stopping(ending) }
            return .none
        case .idle, .ended:
            // The chain has just ended or is about to end.
            return .none
        }
    }

    var mayStart: Bool {
        if case .running = state { return true }
        return false
    }

    private mutating func next() -> GroupAction {
        guard let step = take() else { return end(.succeeded) }
        state = .running(step)
        return .startEach([step])
    }

    private mutating func take() -> Int? {
        if upcoming.isEmpty {
            upcoming = appended.reversed()
            appended = []
        }
        return upcoming.popLast()
    }

    private mutating func end(_ ending: GroupEnding) -> GroupAction {
        state = .ended(ending)
        upcoming = []
        appended = []
        return .end(ending)
    }
}
