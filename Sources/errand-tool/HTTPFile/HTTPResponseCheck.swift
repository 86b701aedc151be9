import Errand
import HTTPTypes

/// An expectation with its variables replaced, ready to check a response.
struct HTTPResponseCheck: Sendable {
    private enum Operand: Sendable {
        case none
        case number(Double)
        case statuses(HTTPStatusList)
        /// `number`: the text as a number; `nil` for text in quotes.
        case text(String, number: Double?)
    }

    private let expectation: HTTPExpectation
    private let operand: Operand

    var isOfStatus: Bool { expectation.subject == .status }

    /// `nil`: the subject does not support this relation and value. `value` is `nil` if no value follows the relation.
    init?(_ expectation: HTTPExpectation, value: String?) {
        self.expectation = expectation
        let relation = expectation.relation
        guard let value else {
            switch expectation.subject {
            case .status, .duration: return nil
            case .header, .body, .json: operand = .none
            }
            return
        }
        switch expectation.subject {
        case .status where relation.isEquality:
            guard let statuses = HTTPStatusList(value) else { return nil }
            operand = .statuses(statuses)
        case .status, .duration:
            guard relation.isOrder || relation.isEquality, let number = Double(plain: value) else { return nil }
            operand = .number(number)
        case .body where relation.isOrder:
            return nil
        case .header, .body, .json:
            if relation.isOrder {
                guard let number = Double(plain: value) else { return nil }
                operand = .number(number)
            } else if let quote = value.first, "\"'".contains(quote), value.count > 1, value.last == quote {
                operand = .text(String(value.dropFirst().dropLast()), number: nil)
            } else {
                operand = .text(value, number: Double(plain: value))
            }
        }
    }

    /// Describes why the response fails the check; `nil`: the response passes.
    func failure(_ response: Response) -> String? {
        switch expectation.subject {
        case .status:
            return judge(String(response.statusCode), Double(response.statusCode))
        case .duration:
            let milliseconds = Double(response.metrics.total.nanoseconds) / 1e6
            return judge(milliseconds.text(1), milliseconds)
        case .header(let name):
            let values = response.headers.filter { $0.name.canonicalName == name.lowercased() }.map(\.value)
            // Several fields with the same name form one list (RFC 9110 5.3).
            let value = values.isEmpty ? nil : values.joined(separator: ", ")
            return judge(value, value.flatMap { Double(plain: $0) })
        case .body:
            guard !response.body.isEmpty else { return judge(expectation.relation == .exists ? nil : "", nil) }
            guard let text = try? response.text() else { return "\(expected), got a body that is not text" }
            return judge(text, nil)
        case .json(let path):
            guard let json = try? JSONText(response.body.bytes) else {
                return "\(expected), got a body that is not JSON"
            }
            let value = json.text(at: path)
            return judge(value, value.flatMap { Double(plain: $0) })
        }
    }

    /// `value` is `nil` if the subject does not exist, which only `!=` accepts.
    private func judge(_ value: String?, _ number: Double?) -> String? {
        guard let value else { return expectation.relation == .notEqual ? nil : "\(expected), got none" }
        return holds(value, number) ? nil : "\(expected), got \(shown(value))"
    }

    private func holds(_ value: String, _ number: Double?) -> Bool {
        switch (expectation.relation, operand) {
        case (.exists, _): true
        case (.equal, _): isEqual(value, number)
        case (.notEqual, _): !isEqual(value, number)
        case (.less, .number(let limit)): number.map { $0 < limit } ?? false
        case (.lessOrEqual, .number(let limit)): number.map { $0 <= limit } ?? false
        case (.greater, .number(let limit)): number.map { $0 > limit } ?? false
        case (.greaterOrEqual, .number(let limit)): number.map { $0 >= limit } ?? false
        case (.contains, .text(let part, _)): part.isEmpty || value.contains(part)
        case (.startsWith, .text(let part, _)): value.hasPrefix(part)
        case (.endsWith, .text(let part, _)): value.hasSuffix(part)
        default: false
        }
    }

    private func isEqual(_ value: String, _ number: Double?) -> Bool {
        switch operand {
        case .none: false
        case .number(let other): number == other
        case .statuses(let statuses): number.map { statuses.contains(Int($0)) } ?? false
        case .text(let text, let other): value == text || (number != nil && number == other)
        }
    }

    // MARK: Words

    private var isSecret: Bool { HTTPResponseCheck.isSecret(expectation) }

    /// Whether the rules of the logs treat the values as secrets.
    private static func isSecret(_ expectation: HTTPExpectation) -> Bool {
        switch expectation.subject {
        case .header(let name): Redaction.standard.hides(header: name)
        case .json(let path):
            path.steps.contains {
                if case .name(let name) = $0 { Redaction.standard.hides(parameter: name) } else { false }
            }
        case .status, .body, .duration: false
        }
    }

    /// The expectation as written in the file, with its variables not replaced.
    private var expected: String {
        "expected \(HTTPResponseCheck.title(of: expectation)) (line \(expectation.position.line))"
    }

    /// The expectation as the name of a check.
    static func title(of expectation: HTTPExpectation) -> String {
        let subject =
            switch expectation.subject {
            case .status: "status"
            case .duration: "duration (ms)"
            case .header(let name): "header \(name)"
            case .body: "body"
            case .json(let path): "body.\(path.source.hasPrefix("$.") ? String(path.source.dropFirst(2)) : path.source)"
            }
        var words = [subject, expectation.relation.rawValue]
        if let value = expectation.value {
            words.append(isSecret(expectation) ? Redaction.placeholder : String(value.source))
        }
        return words.joined(separator: " ")
    }

    private func shown(_ value: String) -> String {
        switch expectation.subject {
        case .status: return value
        case .duration: return value
        case .body: return value.isEmpty ? "an empty body" : "a body of \(value.utf8.count.grouped) bytes without it"
        case .header, .json:
            guard !isSecret else { return Redaction.placeholder }
            var text = value
            if case .header(let name) = expectation.subject { text = Redaction.standard.value(value, ofHeader: name) }
            return text.count > 100 ? "'\(text.prefix(100))...'" : "'\(text)'"
        }
    }
}

/// The error for a response that does not meet the file's expectations. The message shows no secrets.
struct UnmetExpectations: Error {
    let message: String

    /// `nil`: all expectations are met.
    init?(_ checks: [HTTPResponseCheck], _ response: Response) {
        let failures = checks.compactMap { $0.failure(response) }
        guard !failures.isEmpty else { return nil }
        message = failures.joined(separator: "; ")
    }
}

extension Double {
    /// Accepts decimal digits with a sign, a point and an exponent, but not `0x1p3` or `inf`.
    init?(plain text: some StringProtocol) {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }),
            let value = Double(String(text)), value.isFinite
        else { return nil }
        self = value
    }
}
