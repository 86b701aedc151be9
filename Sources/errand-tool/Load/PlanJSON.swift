import Errand

/// JSON with the place of each value, so that a mistake in a plan can be found.
struct PlanJSON: Sendable {
    enum Value: Sendable {
        case null
        case bool(Bool)
        case number(Double)
        case string(String)
        case array([PlanJSON])
        /// In the file's order; no name occurs twice.
        case object([(name: String, value: PlanJSON)])

        var name: String {
            switch self {
            case .null: "null"
            case .bool: "true or false"
            case .number: "a number"
            case .string: "text"
            case .array: "a list"
            case .object: "an object"
            }
        }
    }

    let value: Value
    let position: FilePosition
    /// For example `scenarios[0].stages[1].duration`; empty: the whole plan.
    let path: String

    /// Why a plan is not valid: the place, the member, and the reason.
    struct Failure: Error {
        let position: FilePosition
        let path: String
        let problem: String

        func text(in file: String) -> String {
            let member = path.isEmpty ? "" : "\(Shown.text(path)): "
            return "\(file):\(position.line):\(position.column): \(member)\(Shown.text(problem))"
        }
    }

    func failure(_ problem: String) -> Failure { Failure(position: position, path: path, problem: problem) }

    /// The members of an object. Members other than the known ones are an error.
    func members(_ known: Set<String>) throws(Failure) -> [String: PlanJSON] {
        guard case .object(let members) = value else { throw failure("an object is expected, not \(value.name)") }
        for member in members where !known.contains(member.name) {
            let names = known.sorted().joined(separator: ", ")
            throw member.value.failure("this member is not known, expected one of \(names)")
        }
        return Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first }
    }

    /// The members of an object. Any names are allowed.
    func allMembers() throws(Failure) -> [(name: String, value: PlanJSON)] {
        guard case .object(let members) = value else { throw failure("an object is expected, not \(value.name)") }
        return members
    }

    func elements() throws(Failure) -> [PlanJSON] {
        guard case .array(let elements) = value else { throw failure("a list is expected, not \(value.name)") }
        return elements
    }

    func text() throws(Failure) -> String {
        guard case .string(let text) = value else { throw failure("text is expected, not \(value.name)") }
        return text
    }

    func flag() throws(Failure) -> Bool {
        guard case .bool(let flag) = value else { throw failure("true or false is expected, not \(value.name)") }
        return flag
    }

    func number(_ range: ClosedRange<Double>) throws(Failure) -> Double {
        guard case .number(let number) = value else { throw failure("a number is expected, not \(value.name)") }
        guard range.contains(number) else {
            throw failure(
                "\(PlanJSON.text(number)) is not a number from \(PlanJSON.text(range.lowerBound)) to "
                    + PlanJSON.text(range.upperBound))
        }
        return number
    }

    func integer(_ range: ClosedRange<Int>) throws(Failure) -> Int {
        let number = try number(Double(range.lowerBound)...Double(range.upperBound))
        guard let integer = Int(exactly: number) else { throw failure("an integer is expected") }
        return integer
    }

    /// A time as text with a unit, or a number of seconds; 0 is allowed.
    func duration() throws(Failure) -> Duration {
        let text: String
        switch value {
        case .string(let given): text = given
        case .number(let seconds) where seconds >= 0 && seconds <= 30 * 86_400: return .seconds(seconds)
        default: throw failure("a time such as \"10s\" is expected")
        }
        guard let duration = StageArgument.duration(text) else {
            throw failure("\"\(text)\" is not \(DurationArgument.rule)")
        }
        return duration
    }

    /// Text, or a list of texts.
    func texts() throws(Failure) -> [String] {
        if case .string(let text) = value { return [text] }
        var texts: [String] = []
        for element in try elements() { texts.append(try element.text()) }
        return texts
    }

    private static func text(_ number: Double) -> String {
        Int64(exactly: number).map(\.grouped) ?? "\(number)"
    }
}
