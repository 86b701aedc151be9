import Errand
import Synchronization

/// What stands for `{{...}}` in one run. A variable is evaluated once, when it is first needed, so that `{{$uuid}}` in it
/// is one value for all requests. What is put in is never looked at for placeholders again.
///
/// Of several values for a name, the command line's wins over the file's, and that over the environment's.
final class HTTPVariables: Sendable {
    enum Source {
        case text(String)
        case file(HTTPFile.Variable)
        case environment(HTTPTemplate)
    }

    private struct State {
        var values: [String: String] = [:]
        var exchanges: [String: HTTPExchange] = [:]
    }

    /// Of the `.http` file, for errors.
    let path: String
    private let given: [String: String]
    /// By name, in the file's order.
    private let file: [String: [HTTPFile.Variable]]
    private let environment: HTTPEnvironment
    private let process: [String: String]
    private let dotenv: [String: String]
    private let state = Mutex(State())

    /// Variables stand in one another so deep at most. Each is a stack frame, and a circle is found by it.
    static let maximumDepth = 64
    /// Bytes of one value, which a chain of variables can double with each.
    static let maximumBytes = 16 << 20

    init(
        path: String, given: [String: String] = [:], file: [HTTPFile.Variable] = [],
        environment: HTTPEnvironment = HTTPEnvironment(), process: [String: String] = [:],
        dotenv: [String: String] = [:]
    ) {
        self.path = path
        self.given = given
        self.file = Dictionary(grouping: file, by: \.name)
        self.environment = environment
        self.process = process
        self.dotenv = dotenv
    }

    /// The variable of the file that holds at that place: of several the last one above it, as JetBrains' client and
    /// httpyac have it; one that stands below all of its uses holds for them too.
    private func variable(_ name: String, at position: FilePosition) -> HTTPFile.Variable? {
        guard let all = file[name] else { return nil }
        return all.last { $0.position.line <= position.line } ?? all.first
    }

    /// Tells a variable's definition from another one of the same name.
    func definition(of name: String, at position: FilePosition) -> String {
        guard given[name] == nil, let all = file[name], all.count > 1, let variable = variable(name, at: position)
        else {
            return name
        }
        // No name has a blank.
        return "\(name) \(variable.position.line)"
    }

    /// Where a variable's value comes from.
    func source(of name: String, at position: FilePosition) throws(HTTPFileError) -> Source {
        if let text = given[name] { return .text(text) }
        if let variable = variable(name, at: position) { return .file(variable) }
        switch environment[name] {
        case .text(let template): return .environment(template)
        case .other: throw HTTPFileError(position, "'\(name)' of the environment is not text")
        case nil: throw HTTPFileError(position, "the variable '\(name)' is not defined")
        }
    }

    /// A request has been made; its response may come later.
    func record(_ exchange: HTTPExchange, of name: String) {
        state.withLock { $0.exchanges[name] = exchange }
    }

    /// The response of a request that was recorded.
    func record(_ response: Response, of name: String) {
        state.withLock { $0.exchanges[name]?.response = response }
    }

    /// The text with its placeholders replaced.
    func expand(_ template: HTTPTemplate, limit: Int = maximumBytes) throws(HTTPFileError) -> String {
        try expand(template, limit: limit, depth: 0)
    }

    private func expand(_ template: HTTPTemplate, limit: Int, depth: Int) throws(HTTPFileError) -> String {
        var text = ""
        for part in template.parts {
            switch part {
            case .text(let literal): text += literal
            case .placeholder(let placeholder, let position):
                text += try value(of: placeholder, at: position, depth: depth)
            }
            guard text.utf8.count <= limit else {
                throw HTTPFileError(template.position, "this becomes longer than \(limit >> 20) MiB")
            }
        }
        return text
    }

    private func value(
        of placeholder: HTTPPlaceholder, at position: FilePosition, depth: Int
    ) throws(HTTPFileError) -> String {
        switch placeholder {
        case .variable(let name):
            return try value(of: name, at: position, depth: depth)
        case .system(let variable):
            return try value(of: variable, at: position)
        case .exchange(let reference):
            guard let exchange = state.withLock({ $0.exchanges[reference.name] }) else {
                throw HTTPFileError(position, "'\(reference.name)' has not been run")
            }
            do {
                return try exchange.value(reference)
            } catch {
                throw HTTPFileError(position, error.message)
            }
        }
    }

    /// Of what the tool knows; also asked before anything is sent, so that a missing one is told then.
    func value(of variable: SystemVariable, at position: FilePosition) throws(HTTPFileError) -> String {
        if let value = variable.value(environment: process, dotenv: dotenv) { return value }
        if case .dotenv(let name) = variable {
            throw HTTPFileError(position, "the file .env beside this one has no variable '\(name)'")
        }
        guard case .processEnvironment(let name) = variable else {
            throw HTTPFileError(position, "this has no value")
        }
        throw HTTPFileError(position, "the process has no environment variable '\(name)'")
    }

    private func value(of name: String, at position: FilePosition, depth: Int) throws(HTTPFileError) -> String {
        let definition = definition(of: name, at: position)
        if let value = state.withLock({ $0.values[definition] }) { return value }
        guard depth < HTTPVariables.maximumDepth else { throw HTTPVariables.tooDeep(name, position) }
        let text: String
        switch try source(of: name, at: position) {
        case .text(let given):
            return given
        case .file(let variable):
            do {
                text = try expand(variable.value, limit: HTTPVariables.maximumBytes, depth: depth + 1)
            } catch {
                throw error.inFile(path)
            }
        case .environment(let template):
            do {
                text = try expand(template, limit: HTTPVariables.maximumBytes, depth: depth + 1)
            } catch {
                throw HTTPVariables.inEnvironment(name, error, position)
            }
        }
        return state.withLock { state in
            // Another request may have been first; its value stays.
            let value = state.values[definition] ?? text
            state.values[definition] = value
            return value
        }
    }

    static func tooDeep(_ name: String, _ position: FilePosition) -> HTTPFileError {
        HTTPFileError(
            position, "'\(name)' refers to itself, or variables refer to one another more than \(maximumDepth) deep")
    }

    /// The environment's JSON has no positions to tell.
    static func inEnvironment(_ name: String, _ error: HTTPFileError, _ position: FilePosition) -> HTTPFileError {
        error.file == nil ? HTTPFileError(position, "'\(name)' of the environment: \(error.message)") : error
    }
}
