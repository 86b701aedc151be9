/// Which waiting request the engine starts first. It orders requests that wait for admission; those in flight share the
/// network alike (YTKNetwork `requestPriority`).
public enum Priority: Sendable, Hashable, CaseIterable {
    /// After all others.
    case low
    /// The default.
    case normal
    /// Before all others.
    case high
}
