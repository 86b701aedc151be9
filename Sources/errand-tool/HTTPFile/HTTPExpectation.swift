/// A requirement on a request's response: `# @expect 404`, `?? status == 404`, `?? header content-type contains json`.
struct HTTPExpectation: Sendable, Equatable {
    /// The part of the response that is checked.
    enum Subject: Sendable, Equatable {
        case status
        case header(String)
        case body
        case json(JSONPath)
        /// The duration in milliseconds.
        case duration
    }

    enum Relation: String, Sendable, CaseIterable {
        case equal = "=="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        case contains
        case startsWith
        case endsWith
        case exists

        init?(_ word: Substring) {
            switch word {
            case "===": self = .equal
            case "!==": self = .notEqual
            // The name in httpYac.
            case "includes": self = .contains
            default: self.init(rawValue: String(word))
            }
        }

        var isOrder: Bool { self == .less || self == .lessOrEqual || self == .greater || self == .greaterOrEqual }
        var isEquality: Bool { self == .equal || self == .notEqual }
    }

    let subject: Subject
    let relation: Relation
    /// `nil`: the relation is ``Relation/exists``.
    let value: HTTPTemplate?
    let position: FilePosition

    /// The statuses after `# @expect`.
    init(statuses value: Substring, at position: FilePosition) throws(HTTPFileError) {
        subject = .status
        relation = .equal
        self.value = try HTTPTemplate(value, at: position)
        self.position = position
        try check("'@expect' requires \(HTTPStatusList.rule)")
    }

    /// The expectation after `??`.
    init(_ text: Substring, at position: FilePosition) throws(HTTPFileError) {
        self.position = position
        var rest = text
        let first = HTTPExpectation.word(&rest)
        switch first {
        case "status": subject = .status
        case "duration": subject = .duration
        case "header":
            let name = HTTPExpectation.word(&rest)
            guard !name.isEmpty else { throw HTTPFileError(position, "'header' requires a name after it") }
            subject = .header(String(name))
        case "body": subject = .body
        case _ where first.hasPrefix("body.") || first.hasPrefix("body["):
            let path = first.dropFirst(first.hasPrefix("body.$") ? "body.".count : "body".count)
            subject = .json(try JSONPath(path.hasPrefix("$") ? path : "$" + path, at: position))
        default:
            throw HTTPFileError(
                position,
                "'\(first)' cannot be checked, expected 'status', 'header NAME', 'body', 'body.' with a JSON path, or "
                    + "'duration'")
        }
        let word = HTTPExpectation.word(&rest)
        guard let relation = Relation(word) else {
            let known = Relation.allCases.map(\.rawValue).joined(separator: ", ")
            let problem = word.isEmpty ? "'\(text)' requires a comparison after it" : "'\(word)' is not supported"
            throw HTTPFileError(position, "\(problem), expected \(known)")
        }
        self.relation = relation
        guard relation != .exists else {
            guard rest.isEmpty else { throw HTTPFileError(position, "'exists' takes no value") }
            value = nil
            try check("'\(first)' cannot be checked by '\(word)'")
            return
        }
        guard !rest.isEmpty else { throw HTTPFileError(position, "'\(word)' requires a value after it") }
        let column = position.column + text.column(of: rest) - 1
        value = try HTTPTemplate(rest, at: FilePosition(line: position.line, column: column))
        try check(
            subject == .status && relation.isEquality
                ? "'status' requires \(HTTPStatusList.rule)" : "'\(first)' cannot be checked by '\(word) \(rest)'")
    }

    /// Checks that the subject supports this relation and value. A value with variables is checked later, when it is
    /// known.
    private func check(_ message: String) throws(HTTPFileError) {
        // A status is a valid value for every subject.
        let known = value.map { $0.placeholders.isEmpty ? String($0.source) : "200" }
        guard HTTPResponseCheck(self, value: known) != nil else {
            throw HTTPFileError(position, message)
        }
    }

    /// The next word, up to a blank. Blanks within brackets are part of the word, as in `body['a b']`.
    private static func word(_ rest: inout Substring) -> Substring {
        var depth = 0
        let word = rest.prefix { character in
            if character == "[" { depth += 1 }
            if character == "]" { depth -= 1 }
            return depth > 0 || (character != " " && character != "\t")
        }
        rest = rest[word.endIndex...].trimmed
        return word
    }
}

/// A list of statuses: `404`, `2xx`, `200-299`, or several of them.
struct HTTPStatusList: Sendable, Equatable {
    let ranges: [ClosedRange<Int>]

    static let rule = "statuses such as 404, 2xx or 200-299, separated by commas"

    init?(_ text: some StringProtocol) {
        var ranges: [ClosedRange<Int>] = []
        for word in text.split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }) {
            let parts = word.split(separator: "-", omittingEmptySubsequences: false)
            if let status = HTTPStatusList.status(parts[0]), parts.count == 1 {
                ranges.append(status...status)
            } else if parts.count == 2, let first = HTTPStatusList.status(parts[0]),
                let last = HTTPStatusList.status(parts[1]), first <= last
            {
                ranges.append(first...last)
            } else if word.count == 3, word.lowercased().hasSuffix("xx"), let digit = word.first?.wholeNumberValue,
                (1...5).contains(digit)
            {
                ranges.append((digit * 100)...(digit * 100 + 99))
            } else {
                return nil
            }
        }
        guard !ranges.isEmpty else { return nil }
        self.ranges = ranges
    }

    private static func status(_ text: some StringProtocol) -> Int? {
        guard text.utf8.count == 3, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let status = Int(text) else {
            return nil
        }
        return (100...599).contains(status) ? status : nil
    }

    func contains(_ status: Int) -> Bool { ranges.contains { $0.contains(status) } }
}
