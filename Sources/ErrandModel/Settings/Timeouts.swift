/// How long each part of a request may take. A timeout that is `nil` is inherited: an override inherits from the
/// command, a command from the client, and the client from the library. ``Timeout/noLimit`` is no limit.
public struct Timeouts: Sendable, Hashable {
    /// From submission until the engine starts the request. The library's default: no limit. Ends with
    /// ``ErrandError/timeoutQueue``.
    public var queue: Timeout?
    /// From start until ready to send: name look-up, TCP, TLS. The library's default: 10 s, several times the cost of a
    /// lost SYN. Ends with ``ErrandError/timeoutConnect``.
    public var connect: Timeout?
    /// From the last byte sent to the first byte received. The library's default: no limit, as the idle timeout covers
    /// it. Ends with ``ErrandError/timeoutFirstByte``.
    public var firstByte: Timeout?
    /// Longest time without a byte in either direction, also while the body's source provides no bytes to send. The
    /// timeout does not run while the request is paused or its streamed response is not read. The library's default: 60
    /// s (YTKNetwork `requestTimeoutInterval`). Ends with ``ErrandError/timeoutIdle``.
    public var idle: Timeout?
    /// From submission to the end, redirects included. The library's default: no limit. Ends with
    /// ``ErrandError/timeoutTotal``.
    public var total: Timeout?

    /// Makes a set of timeouts; members that are left out are inherited.
    public init(
        queue: Timeout? = nil, connect: Timeout? = nil, firstByte: Timeout? = nil, idle: Timeout? = nil,
        total: Timeout? = nil
    ) {
        self.queue = queue
        self.connect = connect
        self.firstByte = firstByte
        self.idle = idle
        self.total = total
    }

    /// No limit at all.
    public static let unlimited = Timeouts(
        queue: .noLimit, connect: .noLimit, firstByte: .noLimit, idle: .noLimit, total: .noLimit)
}

extension Timeouts {
    /// The longest timeout, 30 days (`ERRAND_TIMEOUT_MAX`).
    public static let maximum = Duration.milliseconds(2_592_000_000)

    /// The library's defaults.
    static let library = Timeouts(connect: .seconds(10), idle: .seconds(60))

    /// These timeouts; members that are not set are taken from `base`.
    package func inheriting(_ base: Timeouts) -> Timeouts {
        Timeouts(
            queue: queue ?? base.queue, connect: connect ?? base.connect, firstByte: firstByte ?? base.firstByte,
            idle: idle ?? base.idle, total: total ?? base.total)
    }

    /// The timeouts after inheritance: `nil` is no limit from here on.
    package var resolved: Timeouts {
        func limit(_ value: Timeout?) -> Timeout? { value == .noLimit ? nil : value }
        let all = inheriting(.library)
        return Timeouts(
            queue: limit(all.queue), connect: limit(all.connect), firstByte: limit(all.firstByte),
            idle: limit(all.idle), total: limit(all.total))
    }

    /// Milliseconds as the core counts them, 0 for none.
    static func milliseconds(_ value: Timeout?, _ name: StaticString) throws(ErrandError) -> Int64 {
        guard let value = value?.duration else { return 0 }
        guard value > .zero, value <= maximum else {
            throw ErrandError.invalidLimit.with(
                message: "timeout '\(name)' is \(value), expected more than 0 and at most 30 days")
        }
        let (seconds, attoseconds) = value.components
        return seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    }
}

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
