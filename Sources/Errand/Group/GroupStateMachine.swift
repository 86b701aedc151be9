/// The life of one run of a group. Pure; children are numbers. One driver, ``GroupDriver``, performs what they decide.
protocol GroupStateMachine: ~Copyable, SendableMetatype {
    init()

    /// A child of the present run has ended, by itself or because it was stopped.
    mutating func childEnded(_ index: Int, succeeded: Bool) -> GroupAction

    mutating func stopRequested(_ ending: GroupEnding) -> GroupAction

    /// Whether a child that `start` named is still to be started; it counts as one that runs until it has ended.
    var mayStart: Bool { get }
}

/// What is to be done for a group's run.
enum GroupAction: Equatable {
    case none
    case start(Range<Int>)
    case startEach([Int])
    /// Have the user decide how a chain goes on after this child.
    case ask(Int)
    /// Start this child when so much time has passed.
    case wait(Int, Duration)
    /// Stop every child that runs.
    case stopRunning
    case end(GroupEnding)
}

/// How a group's run ends.
enum GroupEnding: Equatable {
    case succeeded
    /// By this child.
    case failed(Int)
    case stopped
    /// `Timeouts.total` is up.
    case timedOut
}
