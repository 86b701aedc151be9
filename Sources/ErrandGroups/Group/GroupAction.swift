/// What the driver has to do for a group's run.
enum GroupAction: Equatable {
    case none
    case start(Range<Int>)
    case startEach([Int])
    /// Ask the user how a chain continues after this child.
    case ask(Int)
    /// Start this child after this delay.
    case wait(Int, Duration)
    /// Stop every running child.
    case stopRunning
    case end(GroupEnding)
}

/// How a group's run ends.
enum GroupEnding: Equatable {
    case succeeded
    /// Failed because of this child.
    case failed(Int)
    case stopped
    /// `Timeouts.total` is up.
    case timedOut
}
