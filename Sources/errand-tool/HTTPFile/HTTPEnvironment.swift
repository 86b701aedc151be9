import Errand

/// Variables of an environment file: `{"dev": {"host": "..."}, "$shared": {...}}`, as in JetBrains'
/// `http-client.env.json`. `$shared` is from the VS Code client: its variables are defaults for every environment.
struct HTTPEnvironment: Sendable {
    enum Value: Sendable {
        /// Text, which may contain variables.
        case text(HTTPTemplate)
        /// `null`, an object or a list.
        case other
    }

    private var chosen: [String: Value] = [:]
    private var common: [String: Value] = [:]
    /// The names of the environments in all files.
    private(set) var names: Set<String> = []

    static let shared = "$shared"

    init() {}

    subscript(name: String) -> Value? { chosen[name] ?? common[name] }

    /// Adds the variables of a file; they override those of earlier files.
    ///
    /// - Parameter name: The environment's name; `nil`: only `$shared` is used.
    mutating func add(_ bytes: [UInt8], name: String?) throws(HTTPFileError) {
        let json: JSONValue
        do {
            json = try Errand.Response(statusCode: 200, body: bytes).json()
        } catch {
            throw HTTPFileError(nil, "the file is not valid JSON")
        }
        guard let environments = json.object else {
            throw HTTPFileError(nil, "the file is not an object of environments: {\"dev\": {\"host\": \"...\"}}")
        }
        names.formUnion(environments.keys.filter { $0 != HTTPEnvironment.shared })
        try HTTPEnvironment.add(environments, HTTPEnvironment.shared, to: &common)
        if let name { try HTTPEnvironment.add(environments, name, to: &chosen) }
    }

    private static func add(
        _ environments: [String: JSONValue], _ name: String, to values: inout [String: Value]
    ) throws(HTTPFileError) {
        guard let json = environments[name] else { return }
        guard let members = json.object else {
            throw HTTPFileError(nil, "'\(name)' is not an object of variables")
        }
        for (key, value) in members {
            let text: String? =
                switch value {
                case .string(let text): text
                case .integer(let number): String(number)
                case .number(let number): String(number)
                case .bool(let isTrue): isTrue ? "true" : "false"
                case .null, .array, .object: nil
                }
            do {
                let template = try text.map { text throws(HTTPFileError) in
                    try HTTPTemplate(text[...], at: FilePosition(line: 1))
                }
                values[key] = template.map(Value.text) ?? .other
            } catch {
                throw HTTPFileError(nil, "'\(name)', '\(key)': \(error.message)")
            }
        }
    }
}

/// A `.env` file: `NAME=value` lines with an optional `export`, optionally quoted values, and comments that begin with
/// `#`.
enum DotenvFile {
    static func parse(_ text: String) -> [String: String] {
        var values: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            var line = line.trimmed
            if line.hasPrefix("export ") { line = line.dropFirst("export ".count).trimmed }
            guard line.first != "#", let mark = line.firstIndex(of: "=") else { continue }
            let name = line[..<mark].trimmed
            guard !name.isEmpty else { continue }
            values[String(name)] = String(value(line[line.index(after: mark)...].trimmed))
        }
        return values
    }

    private static func value(_ text: Substring) -> Substring {
        if let quote = text.first, quote == "\"" || quote == "'" {
            let inner = text.dropFirst()
            if let end = inner.firstIndex(of: quote) { return inner[..<end] }
        }
        // In an unquoted value, a number sign after a blank begins a comment.
        var previous: Character = "x"
        let end = text.indices.first { index in
            defer { previous = text[index] }
            return text[index] == "#" && (previous == " " || previous == "\t")
        }
        return text[..<(end ?? text.endIndex)].trimmed
    }
}
