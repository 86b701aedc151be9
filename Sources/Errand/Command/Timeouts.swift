/// How long each part of a request may take. `nil` means no limit; anything else must be above zero and at most 30
/// days, or the request fails with ``ErrandError/invalidLimit`` before it starts. Counted in whole milliseconds, rounded
/// up.
public struct Timeouts: Sendable, Hashable {
    /// From submission until the engine starts it. Default: none. Ends with ``ErrandError/timeoutQueue``.
    public var queue: Duration?
    /// From start until ready to send: name look-up, TCP, TLS. Default: 10 s, several times what a lost SYN costs.
    /// Ends with ``ErrandError/timeoutConnect``.
    public var connect: Duration?
    /// From the last byte sent to the first byte received. Default: none, the idle timeout covers it. Ends with
    /// ``ErrandError/timeoutFirstByte``.
    public var firstByte: Duration?
    /// Longest time without a byte in either direction, also where a body's source gives none to send; it stands still
    /// while the request is paused or its streamed response is not read. Default: 60 s (YTKNetwork
    /// `requestTimeoutInterval`). Ends with ``ErrandError/timeoutIdle``.
    public var idle: Duration?
    /// From submission to the end, redirects included. Default: none. Ends with ``ErrandError/timeoutTotal``.
    public var total: Duration?

    /// Makes a set of timeouts; what is left out has the default above.
    public init(
        queue: Duration? = nil, connect: Duration? = .seconds(10), firstByte: Duration? = nil,
        idle: Duration? = .seconds(60), total: Duration? = nil
    ) {
        self.queue = queue
        self.connect = connect
        self.firstByte = firstByte
        self.idle = idle
        self.total = total
    }

    /// No limit at all.
    public static let unlimited = Timeouts(connect: nil, idle: nil)
}

extension Timeouts {
    /// The longest timeout, 30 days (`ERRAND_TIMEOUT_MAX`).
    public static let maximum = Duration.milliseconds(2_592_000_000)

    /// Milliseconds as the core counts them, 0 for none.
    static func milliseconds(_ value: Duration?, _ name: StaticString) throws(ErrandError) -> Int64 {
        guard let value else { return 0 }
        guard value > .zero, value <= maximum else {
            throw ErrandError.invalidLimit.with(message: "timeout '\(name)' is \(value), not above 0 and up to 30 days")
        }
        let (seconds, attoseconds) = value.components
        return seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    }
}
