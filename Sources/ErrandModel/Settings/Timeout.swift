/// How long one part of a request may take.
public enum Timeout: Sendable, Hashable {
    /// So long: above zero and at most ``Timeouts/maximum``, or the request fails with ``ErrandError/invalidLimit`` before it
    /// starts. Counted in whole milliseconds, rounded up.
    case after(Duration)
    /// As long as it takes.
    case noLimit

    /// So many seconds.
    public static func seconds(_ count: some BinaryInteger) -> Timeout { .after(.seconds(count)) }

    /// So many seconds, or a part of one.
    public static func seconds(_ count: Double) -> Timeout { .after(.seconds(count)) }

    /// So many thousandths of a second.
    public static func milliseconds(_ count: some BinaryInteger) -> Timeout { .after(.milliseconds(count)) }

    /// `nil`: no limit.
    public var duration: Duration? {
        switch self {
        case .after(let duration): duration
        case .noLimit: nil
        }
    }
}
