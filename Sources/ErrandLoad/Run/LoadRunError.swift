/// Why a ``LoadRun`` could not begin.
public enum LoadRunError: Error, Sendable, Equatable {
    /// ``LoadPlan/start`` is in the past, by this duration.
    case startIsPast(by: Duration)
    /// ``LoadRun/run()`` was called before. A run happens once.
    case hasRun
    /// From the beginning on, this many iterations in a row failed before they sent a request; `reason` is that of the
    /// last one.
    case noRequest(iterations: Int, reason: String)
    /// The system could not create the threads of the generator.
    case noThread
}

extension LoadRunError: CustomStringConvertible {
    /// One sentence.
    public var description: String {
        switch self {
        case .startIsPast(let time): "the start of the plan has passed by \(NumberText.time(time))"
        case .hasRun: "the run was started before"
        case .noRequest(let iterations, let reason):
            "\(iterations) iterations failed before they sent a request: \(reason)"
        case .noThread: "the system could not create a thread"
        }
    }
}
