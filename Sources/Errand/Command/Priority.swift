/// Which waiting request the engine starts first. It orders requests that wait for admission; those in flight share the
/// network alike over HTTP/1, and by the weights 8, 16 and 32 of their streams over HTTP/2 (CURLOPT_STREAM_WEIGHT;
/// YTKNetwork `requestPriority`).
public enum Priority: Sendable, Hashable, CaseIterable {
    /// After all others.
    case low
    /// The default.
    case normal
    /// Before all others.
    case high
}
