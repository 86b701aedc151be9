/// A path in JSON: `$` followed by any number of `.name`, `['name']`, `["name"]` and `[0]`. This is the part of RFC
/// 9535 that selects a single value.
struct JSONPath: Sendable, Hashable {
    enum Step: Sendable, Hashable {
        case name(String)
        case index(Int)
    }

    let steps: [Step]
    /// The path as written.
    let source: String

    init(_ text: some StringProtocol, at position: FilePosition) throws(HTTPFileError) {
        let text = Substring(text)
        source = String(text)
        func bad(_ why: String) -> HTTPFileError {
            HTTPFileError(position, "the JSON path '\(text)' is not supported: \(why)")
        }
        var steps: [Step] = []
        guard text.first == "$" else { throw bad("it does not begin with '$'") }
        var rest = text.dropFirst()
        while let first = rest.first {
            rest = rest.dropFirst()
            switch first {
            case ".":
                let name = rest.prefix { $0 != "." && $0 != "[" }
                guard !name.isEmpty, name != "*", !name.contains(where: { "()]?@'\"".contains($0) }) else {
                    throw bad(name.isEmpty ? "'.' requires a name after it" : "'\(name)' is not a name")
                }
                steps.append(.name(String(name)))
                rest = rest[name.endIndex...]
            case "[":
                let quote = rest.first
                if let quote, quote == "'" || quote == "\"" {
                    rest = rest.dropFirst()
                    let name = rest.prefix { $0 != quote }
                    rest = rest[name.endIndex...].dropFirst()
                    guard rest.first == "]" else { throw bad("'[\(quote)' is not closed by '\(quote)]'") }
                    guard !name.contains("\\") else { throw bad("a name contains '\\'") }
                    steps.append(.name(String(name)))
                } else {
                    let digits = rest.prefix { $0 != "]" }
                    rest = rest[digits.endIndex...]
                    guard rest.first == "]" else { throw bad("'[' is not closed") }
                    guard let index = Int(digits), index >= 0, digits.first != "+" else {
                        throw bad("'[\(digits)]' is neither an index nor a name in quotes")
                    }
                    steps.append(.index(index))
                }
                rest = rest.dropFirst()
            default:
                throw bad("'\(first)' requires '.' or '[' before it")
            }
        }
        self.steps = steps
    }
}
