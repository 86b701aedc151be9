import Errand
import ErrandLoad
import Synchronization

/// The values of `{{...}}` placeholders in one run. A variable is evaluated once, when it is first needed, so that a
/// `{{$uuid}}` in it is the same value for all requests. Placeholders in replaced values are not replaced again.
///
/// If a name has several values, the command line overrides the data of a load test, the data override the file, and
/// the file overrides the environment.
final class HTTPVariables: Sendable {
    enum Source {
        case text(String)
        case file(HTTPFile.Variable)
        case environment(HTTPTemplate)
    }

    private struct State {
        var values: [String: String] = [:]
        var exchanges: [String: HTTPExchange] = [:]
        /// The source of `{{$uuid}}` and `{{$randomInt}}`; `nil`: the system's random numbers.
        var random: LoadRandom?
    }

    /// The path of the `.http` file, for errors.
    let path: String
    private let given: [String: String]
    /// The row of a load test's data, by column.
    private let row: [String: String]
    /// The definitions by name, in the file's order.
    private let file: [String: [HTTPFile.Variable]]
    private let environment: HTTPEnvironment
    private let process: [String: String]
    private let dotenv: [String: String]
    private let state: Mutex<State>

    /// The largest nesting depth of variables. Each level is a stack frame. This limit also detects cycles.
    static let maximumDepth = 64
    /// The limit of one value in bytes; each variable in a chain can double the size of the value.
    static let maximumBytes = 16 << 20

    init(
        path: String, given: [String: String] = [:], row: [String: String] = [:], file: [HTTPFile.Variable] = [],
        environment: HTTPEnvironment = HTTPEnvironment(), process: [String: String] = [:],
        dotenv: [String: String] = [:]
    ) {
        self.path = path
        self.given = given
        self.row = row
        self.file = Dictionary(grouping: file, by: \.name)
        self.environment = environment
        self.process = process
        self.dotenv = dotenv
        state = Mutex(State())
    }

    /// The same definitions without the values found so far, for another iteration of a load test.
    ///
    /// - Parameter random: The source of random values; `nil`: the system's random numbers.
    init(anew other: HTTPVariables, row: [String: String] = [:], random: LoadRandom? = nil) {
        path = other.path
        given = other.given
        self.row = row
        file = other.file
        environment = other.environment
        process = other.process
        dotenv = other.dotenv
        state = Mutex(State(random: random))
    }

    /// The definition of a variable that applies at a position: the last one above it, as in JetBrains' client and
    /// httpyac. If all definitions are below, the first one applies.
    private func variable(_ name: String, at position: FilePosition) -> HTTPFile.Variable? {
        guard let all = file[name] else { return nil }
        return all.last { $0.position.line <= position.line } ?? all.first
    }

    /// A key that distinguishes definitions of the same name.
    func definition(of name: String, at position: FilePosition) -> String {
        guard given[name] == nil, row[name] == nil, let all = file[name], all.count > 1,
            let variable = variable(name, at: position)
        else {
            return name
        }
        // The key is unique, because names contain no blank.
        return "\(name) \(variable.position.line)"
    }

    /// The source of a variable's value.
    func source(of name: String, at position: FilePosition) throws(HTTPFileError) -> Source {
        if let text = given[name] ?? row[name] { return .text(text) }
        if let variable = variable(name, at: position) { return .file(variable) }
        switch environment[name] {
        case .text(let template): return .environment(template)
        case .other: throw HTTPFileError(position, "'\(name)' of the environment is not text")
        case nil: throw HTTPFileError(position, "the variable '\(name)' is not defined")
        }
    }

    /// Records a request that has been made; its response may be recorded later.
    func record(_ exchange: HTTPExchange, of name: String) {
        state.withLock { $0.exchanges[name] = exchange }
    }

    /// Records the response of a request that was recorded before.
    func record(_ response: Response, of name: String) {
        state.withLock { $0.exchanges[name]?.response = response }
    }

    /// Returns the text with its placeholders replaced.
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
                throw HTTPFileError(template.position, "the expanded text is longer than \(limit >> 20) MiB")
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

    /// The value of a system variable. Also called before any request is sent, so that a missing variable is reported
    /// early.
    func value(of variable: SystemVariable, at position: FilePosition) throws(HTTPFileError) -> String {
        if let value = drawn(variable) ?? variable.value(environment: process, dotenv: dotenv) { return value }
        if case .dotenv(let name) = variable {
            throw HTTPFileError(position, "the file .env in the same folder has no variable '\(name)'")
        }
        guard case .processEnvironment(let name) = variable else {
            throw HTTPFileError(position, "the variable has no value")
        }
        throw HTTPFileError(position, "the process has no environment variable '\(name)'")
    }

    /// `nil`: the variable is not random, or there is no source of repeatable numbers.
    private func drawn(_ variable: SystemVariable) -> String? {
        state.withLock { state -> String? in
            guard var random = state.random else { return nil }
            defer { state.random = random }
            return variable.value(drawnFrom: &random)
        }
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
            // Another request may have evaluated the variable first; its value is kept.
            let value = state.values[definition] ?? text
            state.values[definition] = value
            return value
        }
    }

    static func tooDeep(_ name: String, _ position: FilePosition) -> HTTPFileError {
        HTTPFileError(
            position,
            "'\(name)' refers to itself, or variables refer to one another more than \(maximumDepth) levels deep")
    }

    /// The environment's JSON has no positions, so the error gets the position of the placeholder.
    static func inEnvironment(_ name: String, _ error: HTTPFileError, _ position: FilePosition) -> HTTPFileError {
        error.file == nil ? HTTPFileError(position, "'\(name)' of the environment: \(error.message)") : error
    }
}
