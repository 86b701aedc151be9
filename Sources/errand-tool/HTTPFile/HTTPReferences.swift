/// Finds the requests that a template refers to, directly or through variables. Also finds undefined variables and
/// cycles.
struct HTTPReferences {
    private struct Variable {
        var references: [ExchangeReference] = []
        /// The depth of nested variables, including this one.
        var height = 1
    }

    private let variables: HTTPVariables
    private var known: [String: Variable] = [:]

    init(_ variables: HTTPVariables) {
        self.variables = variables
    }

    /// The references, each with its position in `template`.
    mutating func of(
        _ template: HTTPTemplate
    ) throws(HTTPFileError) -> [(reference: ExchangeReference, position: FilePosition)] {
        var found: [(ExchangeReference, FilePosition)] = []
        for (placeholder, position) in template.placeholders {
            let variable = try walk(placeholder, at: position, depth: 0)
            found += variable.references.map { ($0, position) }
        }
        return found
    }

    private mutating func walk(
        _ placeholder: HTTPPlaceholder, at position: FilePosition, depth: Int
    ) throws(HTTPFileError) -> Variable {
        switch placeholder {
        case .exchange(let reference):
            return Variable(references: [reference], height: 0)
        case .system(let variable):
            _ = try variables.value(of: variable, at: position)
            return Variable(height: 0)
        case .variable(let name):
            let definition = variables.definition(of: name, at: position)
            let height = known[definition]?.height ?? 1
            guard depth + height <= HTTPVariables.maximumDepth else { throw HTTPVariables.tooDeep(name, position) }
            if let variable = known[definition] { return variable }
            let variable = try walk(name, at: position, depth: depth + 1)
            known[definition] = variable
            return variable
        }
    }

    private mutating func walk(
        _ name: String, at position: FilePosition, depth: Int
    ) throws(HTTPFileError) -> Variable {
        switch try variables.source(of: name, at: position) {
        case .text:
            return Variable()
        case .file(let variable):
            do {
                return try walk(variable.value, depth: depth)
            } catch {
                throw error.inFile(variables.path)
            }
        case .environment(let template):
            do {
                return try walk(template, depth: depth)
            } catch {
                throw HTTPVariables.inEnvironment(name, error, position)
            }
        }
    }

    private mutating func walk(_ template: HTTPTemplate, depth: Int) throws(HTTPFileError) -> Variable {
        var variable = Variable()
        var seen: Set<ExchangeReference> = []
        for (placeholder, position) in template.placeholders {
            let part = try walk(placeholder, at: position, depth: depth)
            variable.references += part.references.filter { seen.insert($0).inserted }
            variable.height = max(variable.height, part.height + 1)
        }
        return variable
    }
}
