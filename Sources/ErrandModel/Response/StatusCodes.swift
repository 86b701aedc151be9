/// The status codes with which a response is a success.
///
/// ```swift
/// var acceptedStatusCodes: StatusCodes { [200, 404] }
/// var acceptedStatusCodes: StatusCodes { .in(200...399) }
/// ```
///
/// AFNetworking calls this `acceptableStatusCodes`, YTKNetwork `statusCodeValidator`.
public struct StatusCodes: Sendable, Hashable {
    private enum Rule: Sendable, Hashable {
        case inherited
        case any
        case range(ClosedRange<Int>)
        case ranges([ClosedRange<Int>])
    }

    private let rule: Rule

    /// The codes of ``Client/Settings/acceptedStatusCodes``: the default of a command. Outside of a command, and in the
    /// settings, the same as ``successful``.
    public static var inherited: StatusCodes { StatusCodes(rule: .inherited) }

    /// 200...299 (RFC 9110 15.3).
    public static var successful: StatusCodes { StatusCodes(rule: .range(200...299)) }

    /// Every status.
    public static var any: StatusCodes { StatusCodes(rule: .any) }

    /// The codes of a range.
    public static func `in`(_ codes: ClosedRange<Int>) -> StatusCodes {
        StatusCodes(rule: .range(codes))
    }

    /// The given codes.
    public static func of(_ codes: some Sequence<Int>) -> StatusCodes {
        StatusCodes(rule: .ranges(codes.map { $0...$0 }))
    }

    /// The codes of both sets; ``inherited`` counts as ``successful``.
    public func union(_ other: StatusCodes) -> StatusCodes {
        guard let ranges, let others = other.ranges else { return .any }
        return StatusCodes(rule: .ranges(ranges + others.filter { !ranges.contains($0) }))
    }

    /// Whether the set contains this code.
    public func contains(_ statusCode: Int) -> Bool {
        switch rule {
        case .inherited: (200...299).contains(statusCode)
        case .any: true
        case .range(let range): range.contains(statusCode)
        case .ranges(let ranges): ranges.contains { $0.contains(statusCode) }
        }
    }

    /// The error of a response with a status that is none of these.
    package func error(for statusCode: Int) -> ErrandError {
        .statusNotAccepted.with(message: "the status is \(statusCode), expected \(self)")
    }

    /// `self`, or `other` where `self` is ``inherited``.
    package func inheriting(_ other: @autoclosure () -> StatusCodes) -> StatusCodes {
        if case .inherited = rule { other() } else { self }
    }

    /// `nil`: any code.
    private var ranges: [ClosedRange<Int>]? {
        switch rule {
        case .inherited: [200...299]
        case .any: nil
        case .range(let range): [range]
        case .ranges(let ranges): ranges
        }
    }
}

extension StatusCodes: ExpressibleByArrayLiteral {
    /// The same as ``of(_:)``.
    public init(arrayLiteral elements: Int...) {
        self = .of(elements)
    }
}

extension StatusCodes: CustomStringConvertible {
    /// `200-299, 404`, or `any`.
    public var description: String {
        guard let ranges else { return "any" }
        return ranges.map { $0.lowerBound == $0.upperBound ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            .joined(separator: ", ")
    }
}
