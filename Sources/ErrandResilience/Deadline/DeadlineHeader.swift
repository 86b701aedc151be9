public import HTTPTypes

/// A header field that carries the remaining time of a call.
///
/// The time is rounded down, so that the server gives up first. A value that cannot be read is no deadline; a value
/// above ``longest`` counts as ``longest``.
public struct DeadlineHeader: Sendable, Hashable {
    private enum Form: Sendable, Hashable {
        /// Up to eight digits and a unit (gRPC over HTTP/2, "Timeout").
        case grpc
        /// Whole milliseconds.
        case milliseconds
    }

    private let name: HTTPField.Name?
    private let form: Form

    /// The longest remaining time that is sent or accepted, 30 days (``Timeouts/maximum``).
    public static let longest = Timeouts.maximum

    /// `grpc-timeout: 1500m`: at most eight digits and a unit, `H` `M` `S` `m` `u` `n`.
    public static let grpcTimeout = DeadlineHeader(name: HTTPField.Name("grpc-timeout"), form: .grpc)

    /// `X-Request-Timeout: 1500`: whole milliseconds.
    public static let requestTimeout = DeadlineHeader(name: HTTPField.Name("X-Request-Timeout"), form: .milliseconds)

    /// No field. If a command chooses it (``Command/resilience``), the server does not learn the remaining time.
    public static let never = DeadlineHeader(name: nil, form: .milliseconds)

    /// A field of this name with whole milliseconds, for example `x-envoy-expected-rq-timeout-ms`.
    public static func milliseconds(_ name: HTTPField.Name) -> DeadlineHeader {
        DeadlineHeader(name: name, form: .milliseconds)
    }

    /// The field for a remaining time. `nil`: less than the field's unit is left, and the call should not be sent.
    public func field(remaining: Duration) -> HTTPField? {
        guard let name, let value = value(remaining: remaining) else { return nil }
        return HTTPField(name: name, value: value)
    }

    /// The field's value for a remaining time, or `nil` as for ``field(remaining:)``.
    public func value(remaining: Duration) -> String? {
        let time = min(remaining.clampedWait, Self.longest)
        switch form {
        case .milliseconds:
            let count = Self.nanoseconds(time) / 1_000_000
            return count > 0 ? String(count) : nil
        case .grpc:
            let nanoseconds = Self.nanoseconds(time)
            guard nanoseconds > 0 else { return nil }
            // The finest unit that takes eight digits; hours always do.
            for (unit, size) in Self.units where nanoseconds / size <= 99_999_999 {
                return "\(nanoseconds / size)\(unit)"
            }
            return nil
        }
    }

    /// The remaining time of a message; `nil`: the message has no readable field. A field that occurs twice is not
    /// readable.
    public func remaining(in fields: HTTPFields) -> Duration? {
        guard let name else { return nil }
        let values = fields[values: name]
        guard values.count == 1, let value = values.first else { return nil }
        return remaining(value: value)
    }

    /// The remaining time of a value; `nil`: the value cannot be read. Zero is a deadline that has passed.
    public func remaining(value: String) -> Duration? {
        var text = value[...]
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        switch form {
        case .milliseconds:
            guard let count = Self.number(text, digits: 19) else { return nil }
            return min(.milliseconds(count), Self.longest)
        case .grpc:
            guard let unit = text.popLast(), let size = Self.units.first(where: { $0.unit == unit })?.nanoseconds,
                let count = Self.number(text, digits: 8)
            else { return nil }
            // 10^8 hours are 3.6 * 10^20 ns, more than an Int64 holds.
            return min(.nanoseconds(size) * count, Self.longest)
        }
    }

    private static let units: [(unit: Character, nanoseconds: Int64)] = [
        ("n", 1), ("u", 1000), ("m", 1_000_000), ("S", 1_000_000_000), ("M", 60_000_000_000),
        ("H", 3_600_000_000_000),
    ]

    /// `time` is at most 30 days.
    private static func nanoseconds(_ time: Duration) -> Int64 {
        let (seconds, attoseconds) = time.components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    /// ASCII digits alone, without a sign. More digits than fit are not readable.
    private static func number(_ text: Substring, digits: Int) -> Int64? {
        guard !text.isEmpty, text.utf8.count <= digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }
}
