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
