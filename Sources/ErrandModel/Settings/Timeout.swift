/// How long one part of a request may take.
public enum Timeout: Sendable, Hashable {
    /// This long: above zero and at most ``Timeouts/maximum``; otherwise the request fails with
    /// ``ErrandError/invalidLimit`` before it starts. Counted in whole milliseconds, rounded up.
    case after(Duration)
    /// No limit.
    case noLimit

    /// A timeout in seconds.
    public static func seconds(_ count: some BinaryInteger) -> Timeout { .after(.seconds(count)) }

    /// A timeout in seconds, with a fraction.
    public static func seconds(_ count: Double) -> Timeout { .after(.seconds(count)) }

    /// A timeout in milliseconds.
    public static func milliseconds(_ count: some BinaryInteger) -> Timeout { .after(.milliseconds(count)) }

    /// The duration; `nil`: no limit.
    public var duration: Duration? {
        switch self {
        case .after(let duration): duration
        case .noLimit: nil
        }
    }
}
