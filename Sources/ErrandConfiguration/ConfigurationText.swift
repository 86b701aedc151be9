/// A value as a provider has it, before it is converted.
enum ConfigurationText: Sendable, Hashable {
    case text(String)
    case list([String])

    /// `250ms`, `1.5s`; a number without a unit is no duration, except `0`.
    static func duration(_ text: String) -> Duration? {
        if text == "0" { return .zero }
        // The longer names first: "ms" ends in "s", too.
        let units: [(name: String, seconds: Double)] = [
            ("us", 0.000_001), ("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600), ("d", 86_400),
        ]
        guard let unit = units.first(where: { text.hasSuffix($0.name) }),
            let value = number(String(text.dropLast(unit.name.count)))
        else { return nil }
        let nanoseconds = (value * unit.seconds * 1e9).rounded()
        // What an Int64 holds, with room for the rounding of a Double.
        return nanoseconds < 9e18 ? .nanoseconds(Int64(nanoseconds)) : nil
    }

    /// `4096`, `64KiB`, `64k`; units are powers of 1,024.
    static func bytes(_ text: String) -> Int? {
        let units: [(name: String, power: Int)] = [
            ("kib", 10), ("mib", 20), ("gib", 30), ("tib", 40), ("k", 10), ("m", 20), ("g", 30),
        ]
        let unit = units.first { text.lowercased().hasSuffix($0.name) }
        guard let value = count(String(text.dropLast(unit?.name.count ?? 0))) else { return nil }
        let (bytes, isTooMuch) = value.multipliedReportingOverflow(by: 1 << (unit?.power ?? 0))
        return isTooMuch ? nil : bytes
    }

    static func count(_ text: String) -> Int? {
        // `Int` accepts a sign, too.
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
    }

    /// Digits, and a point between them. `Double` accepts "0x1p3", "inf" and "1e9", too.
    static func number(_ text: String) -> Double? {
        guard let first = text.utf8.first, (0x30...0x39).contains(first),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E })
        else { return nil }
        return Double(text)
    }

    static func flag(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "yes", "on", "1": true
        case "false", "no", "off", "0": false
        default: nil
        }
    }

    /// The parts of one text, without the blanks around them.
    static func parts(_ text: String, separator: Character) -> [String] {
        text.split(separator: separator, omittingEmptySubsequences: false).map { trimmed($0) }
    }

    static func trimmed(_ text: Substring) -> String {
        var rest = text
        while let first = rest.first, first.isWhitespace { rest.removeFirst() }
        while let last = rest.last, last.isWhitespace { rest.removeLast() }
        return String(rest)
    }
}
