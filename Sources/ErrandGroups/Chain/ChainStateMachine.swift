/// The life of one run of a chain: which step is next, and when it is over. Pure; a step is its number in a table that
/// only grows.
struct ChainStateMachine: ~Copyable {
    enum State: Equatable {
        case idle
        case running(Int)
        /// The user is asked how to go on after this step. `stop`: it was stopped meanwhile, which counts more.
        case deciding(Int, stop: GroupEnding?)
        /// This step is to run again when a time has passed.
        case waiting(Int)
        /// The step that runs has been stopped and is awaited.
        case stopping(GroupEnding)
        case ended(GroupEnding)
    }

    private(set) var state = State.idle
    /// The steps that come next, the first of them last.
    private var upcoming: [Int] = []
    /// Those that come after them, in order.
    private var appended: [Int] = []

    /// The steps that are left, in order.
    var left: [Int] { upcoming.reversed() + appended }

    mutating func started(steps: [Int]) -> GroupAction {
        switch state {
        case .idle, .ended:
            upcoming = steps.reversed()
            return next()
        case .running, .deciding, .waiting, .stopping:
            // Only our own bug leads here: a request is not submitted twice at a time.
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
            // Only our own bug leads here: a step that was started ends once.
            preconditionFailure("childEnded in \(state)")
        }
    }

    /// The user has decided; `inserted` and `appended` are entered before the decision counts.
    mutating func decided(
        _ decision: ChainMoves.Decision, inserted: [Int] = [], appended: [Int] = []
    ) -> GroupAction {
        guard case .deciding(let step, let stop) = state else {
            // Only our own bug leads here: the user is asked once for each end.
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

    /// Whether a step could be added at the end; not where there is none any more to come after.
    mutating func appendRequested(_ step: Int) -> Bool {
        switch state {
        case .running, .deciding(_, stop: nil), .waiting:
            appended.append(step)
            return true
        case .idle, .deciding, .stopping, .ended:
            return false
        }
    }

    /// The time is up; whether the step is to be started.
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
            // A stop wins over what was decided and not told.
            if ending == .stopped { state = .stopping(ending) }
            return .none
        case .idle, .ended:
            // It has ended a moment ago, or is about to.
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
