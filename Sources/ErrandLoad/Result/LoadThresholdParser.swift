/// Reads the text of a ``LoadThreshold``, by Unicode scalars: a name may begin with a combining mark, which would be one
/// character with the slash before it.
struct LoadThresholdParser {
    private let text: String
    private let characters: [Unicode.Scalar]
    private var index = 0

    init(_ text: String) {
        self.text = text
        characters = Array(text.unicodeScalars)
    }

    mutating func threshold() throws(LoadThresholdError) -> LoadThreshold {
        var scenario: String?
        var request: String?
        // The condition has no colon, so the last colon ends the names.
        if let colon = characters.lastIndex(of: ":") { (scenario, request) = try names(before: colon) }
        let measure = try measure()
        let comparison = try comparison()
        let bound = try bound(of: measure)
        skipBlanks()
        guard index == characters.count else { throw failure("unexpected text") }
        return LoadThreshold(measure, comparison, bound, scenario: scenario, request: request)
    }

    private func failure(_ problem: String, at position: Int? = nil) -> LoadThresholdError {
        LoadThresholdError(text: text, position: position ?? index, problem: problem)
    }

    private mutating func skipBlanks() {
        while index < characters.count, isBlank(characters[index]) { index += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard index < characters.count, characters[index] == character else { return false }
        index += 1
        return true
    }

    private mutating func names(before colon: Int) throws(LoadThresholdError) -> (scenario: String?, request: String?) {
        let first = try name(before: colon, endsAtSlash: true)
        guard index < colon else {
            index = colon + 1
            return (nil, first)
        }
        index += 1
        let second = try name(before: colon, endsAtSlash: false)
        guard index == colon else { throw failure("unexpected text after the quotation mark") }
        index += 1
        return (first, second)
    }

    /// The name up to a slash or the colon; `nil` for `*`. Stops before the slash or colon.
    private mutating func name(before colon: Int, endsAtSlash: Bool) throws(LoadThresholdError) -> String? {
        skipBlanks()
        if take("\"") {
            let name = try quoted(before: colon)
            skipBlanks()
            let isEnd = index == colon || (endsAtSlash && index < colon && characters[index] == "/")
            guard isEnd else { throw failure("a colon or slash is missing") }
            return name
        }
        let start = index
        while index < colon, !(endsAtSlash && characters[index] == "/") { index += 1 }
        var end = index
        while end > start, isBlank(characters[end - 1]) { end -= 1 }
        guard end > start else { throw failure("a name is missing", at: start) }
        let name = string(start..<end)
        return name == "*" ? nil : name
    }

    private mutating func quoted(before colon: Int) throws(LoadThresholdError) -> String {
        let start = index - 1
        var name = ""
        while index < colon {
            if take("\"") { return name }
            if take("\\"), index < colon {
                guard characters[index] == "\"" || characters[index] == "\\" else {
                    throw failure("only \\\" and \\\\ are escapes")
                }
            }
            guard index < colon else { break }
            name.unicodeScalars.append(characters[index])
            index += 1
        }
        throw failure("the quotation mark is not closed", at: start)
    }

    private mutating func measure() throws(LoadThresholdError) -> LoadThreshold.Measure {
        skipBlanks()
        let start = index
        while index < characters.count, !"<>=".unicodeScalars.contains(characters[index]), !isBlank(characters[index]) {
            index += 1
        }
        switch string(start..<index) {
        case "mean": return .mean
        case "max": return .max
        case "errors": return .errors
        case "rate": return .rate
        case "checks": return .checks
        case "never_sent": return .neverSent
        case "iterations": return .iterations
        case let word where word.hasPrefix("p"):
            guard let percentile = Double(word.dropFirst()), (0...100).contains(percentile) else {
                throw failure("a percentile from p0 to p100 is expected", at: start)
            }
            return .percentile(percentile)
        default:
            throw failure(
                "p99 or another percentile, mean, max, errors, rate, checks, never_sent or iterations is expected",
                at: start)
        }
    }

    private mutating func comparison() throws(LoadThresholdError) -> LoadThreshold.Comparison {
        skipBlanks()
        if take("<") { return take("=") ? .lessOrEqual : .less }
        if take(">") { return take("=") ? .greaterOrEqual : .greater }
        throw failure("<, <=, > or >= is expected")
    }

    private mutating func bound(of measure: LoadThreshold.Measure) throws(LoadThresholdError) -> Double {
        skipBlanks()
        let start = index
        let number = try number()
        skipBlanks()
        let unitStart = index
        while index < characters.count, !isBlank(characters[index]) { index += 1 }
        let unit = string(unitStart..<index)
        switch measure {
        case .percentile, .mean, .max:
            guard let scale = Self.scales[unit] else {
                throw failure("a unit is expected: ns, us, ms, s or min", at: unitStart)
            }
            guard (number * scale).isFinite else { throw failure("this is not a number", at: start) }
            return number * scale
        case .errors, .checks, .neverSent, .iterations:
            guard unit.isEmpty || unit == "%" else { throw failure("% or nothing is expected", at: unitStart) }
            let share = unit.isEmpty ? number : number / 100
            guard share <= 1 else { throw failure("a share from 0 to 1, or from 0% to 100%, is expected", at: start) }
            return share
        case .rate:
            guard unit.isEmpty || unit == "/s" else { throw failure("/s or nothing is expected", at: unitStart) }
            return number
        }
    }

    private static let scales: [String: Double] = [
        "ns": 1, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9,
    ]

    /// Digits, with a point and an exponent.
    private mutating func number() throws(LoadThresholdError) -> Double {
        let start = index
        skipDigits()
        if take(".") { skipDigits() }
        if index > start, index < characters.count, characters[index] == "e" || characters[index] == "E" {
            var end = index + 1
            if end < characters.count, characters[end] == "-" || characters[end] == "+" { end += 1 }
            if end < characters.count, isDigit(characters[end]) {
                index = end
                skipDigits()
            }
        }
        guard index > start else { throw failure("a number is missing") }
        guard let number = Double(string(start..<index)), number.isFinite else {
            throw failure("this is not a number", at: start)
        }
        return number
    }

    private mutating func skipDigits() {
        while index < characters.count, isDigit(characters[index]) { index += 1 }
    }

    private func isDigit(_ character: Unicode.Scalar) -> Bool { ("0"..."9").contains(character) }

    private func isBlank(_ character: Unicode.Scalar) -> Bool { character.properties.isWhitespace }

    private func string(_ range: Range<Int>) -> String {
        var string = ""
        string.unicodeScalars.append(contentsOf: characters[range])
        return string
    }
}
