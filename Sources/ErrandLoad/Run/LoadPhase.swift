/// The phase of a ``LoadRun``.
public enum LoadPhase: String, Sendable, Hashable, Codable {
    /// Before the begin: not started, or waiting for ``LoadPlan/start``.
    case waiting
    /// The load runs, and nothing is counted.
    case warmingUp = "warming_up"
    /// The stages run.
    case measuring
    /// No iteration begins any more; requests and iterations in flight may end.
    case draining
    /// Everything has ended.
    case done
}
