import ArgumentParser

/// A variable `name=value`.
struct VariableArgument: ExpressibleByArgument, Hashable, Sendable {
    let name: String
    let value: String

    init?(argument: String) {
        guard let mark = argument.utf8.firstIndex(of: UInt8(ascii: "=")),
            HTTPPlaceholder.isName(argument[..<mark])
        else { return nil }
        name = String(argument[..<mark])
        value = String(argument[argument.utf8.index(after: mark)...])
    }

    /// The values by name. If a name is given more than once, the last value counts.
    static func values(_ arguments: [VariableArgument]) -> [String: String] {
        Dictionary(arguments.map { ($0.name, $0.value) }) { _, last in last }
    }
}
