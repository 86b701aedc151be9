import ErrandLoad
import Foundation

/// `{{$name ...}}`: a value that the tool itself provides.
enum SystemVariable: Sendable, Hashable {
    case uuid
    /// Seconds since 1970 plus the offset.
    case timestamp(offset: Int64)
    /// ISO 8601, in UTC, to the millisecond.
    case isoTimestamp
    /// From the first bound up to, but not including, the second.
    case randomInteger(Int64, Int64)
    case processEnvironment(String)
    /// A variable of the `.env` file beside the `.http` file.
    case dotenv(String)
    case dateTime(DateTimeVariable)

    static let supported =
        "$uuid, $guid, $random.uuid, $timestamp, $isoTimestamp, $datetime, $localDatetime, $randomInt, $random.integer, "
        + "$processEnv, $env.NAME and $dotenv"

    init(_ text: Substring, at position: FilePosition) throws(HTTPFileError) {
        let words = text.split { $0 == " " || $0 == "\t" }
        let name = words.first ?? text
        let arguments = Array(words.dropFirst())
        func none() throws(HTTPFileError) {
            guard arguments.isEmpty else { throw HTTPFileError(position, "'\(name)' takes no arguments") }
        }
        switch name {
        case "$uuid", "$guid", "$random.uuid":
            try none()
            self = .uuid
        case "$isoTimestamp":
            try none()
            self = .isoTimestamp
        case "$timestamp":
            self = .timestamp(offset: try SystemVariable.offset(arguments, at: position))
        case "$randomInt":
            self = try SystemVariable.random(arguments.isEmpty ? ["0", "1001"] : arguments, at: position)
        case _ where text.hasPrefix("$random.integer(") && text.hasSuffix(")"):
            let inner = text.dropFirst("$random.integer(".count).dropLast()
            let bounds = inner.split(separator: ",", omittingEmptySubsequences: false).map(\.trimmed)
            self = try SystemVariable.random(bounds, at: position)
        case "$processEnv":
            guard arguments.count == 1, arguments[0].first != "%" else {
                throw HTTPFileError(position, "'$processEnv' requires one name without '%'")
            }
            self = .processEnvironment(String(arguments[0]))
        case "$dotenv":
            guard arguments.count == 1, arguments[0].first != "%" else {
                throw HTTPFileError(position, "'$dotenv' requires one name without '%'")
            }
            self = .dotenv(String(arguments[0]))
        case "$datetime", "$localDatetime":
            self = .dateTime(
                try DateTimeVariable(
                    text[name.endIndex...].trimmed, isLocal: name == "$localDatetime", at: position))
        case _ where name.hasPrefix("$env.") && name.count > 5:
            try none()
            self = .processEnvironment(String(name.dropFirst(5)))
        default:
            throw HTTPFileError(position, "'\(name)' is not supported, expected one of \(SystemVariable.supported)")
        }
    }

    private static func random(_ bounds: [Substring], at position: FilePosition) throws(HTTPFileError) -> SystemVariable
    {
        guard bounds.count == 2, let low = Int64(bounds[0]), let high = Int64(bounds[1]), low < high else {
            throw HTTPFileError(position, "'$randomInt' requires two integers, the first below the second")
        }
        return .randomInteger(low, high)
    }

    /// An offset such as `-3 h`, as in the VS Code client; months and years are not supported, because their length
    /// varies.
    private static func offset(_ arguments: [Substring], at position: FilePosition) throws(HTTPFileError) -> Int64 {
        guard !arguments.isEmpty else { return 0 }
        let units: [Substring: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800]
        guard arguments.count == 2, let count = Int64(arguments[0]), count.magnitude < 1 << 32,
            let unit = units[arguments[1]]
        else {
            throw HTTPFileError(position, "'$timestamp' requires an integer and one of s, m, h, d, w")
        }
        return count * unit
    }

    /// Returns `nil` if the process has no such environment variable.
    func value(environment: [String: String], dotenv: [String: String] = [:]) -> String? {
        switch self {
        case .uuid: UUID().uuidString.lowercased()
        case .timestamp(let offset): String(Int64(Date().timeIntervalSince1970) + offset)
        case .isoTimestamp:
            Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        case .randomInteger(let low, let high): String(Int64.random(in: low..<high))
        case .processEnvironment(let name): environment[name]
        case .dotenv(let name): dotenv[name]
        case .dateTime(let variable): variable.text(now: Date(), zone: .current)
        }
    }

    /// The value drawn from that source of random numbers: the same one on every machine. `nil`: the variable is not
    /// random.
    func value(drawnFrom random: inout LoadRandom) -> String? {
        switch self {
        case .uuid: SystemVariable.uuid(random.next(), random.next())
        case .randomInteger(let low, let high):
            // `random(in:using:)` is not used, because its algorithm may change with the standard library.
            String(
                low &+ Int64(bitPattern: random.next().multipliedFullWidth(by: UInt64(bitPattern: high &- low)).high))
        case .timestamp, .isoTimestamp, .processEnvironment, .dotenv, .dateTime: nil
        }
    }

    /// A UUID of version 4 (RFC 9562 5.4).
    private static func uuid(_ first: UInt64, _ second: UInt64) -> String {
        func digits(_ number: UInt64) -> String {
            let text = String(number, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }
        let text = Array(
            (digits(first & 0xFFFF_FFFF_FFFF_0FFF | 0x4000)
                + digits(second & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)).utf8)
        let parts = [text[0..<8], text[8..<12], text[12..<16], text[16..<20], text[20..<32]]
        return parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "-")
    }
}
