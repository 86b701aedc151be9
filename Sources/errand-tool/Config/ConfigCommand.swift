import ArgumentParser
import ErrandConfigurationKeys

/// `errand config --print-keys`: prints the keys with which a service configures its clients.
struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Prints the keys by which a program configures its clients.",
        discussion: """
            A program that uses the product ErrandConfiguration reads the settings of its clients from the environment, \
            from files, or from any other provider of swift-configuration. The keys are relative to the scope that the \
            program gives to a client.

            --json prints an array of objects: key, variable (of the environment), values, default, secret, applies \
            (at_once: a running client takes a new value; at_start: a new client does), meaning.
            """)

    @Argument(help: "The scope of the program's client, such as 'http.users': a prefix of the keys and variables.")
    var scope: String?

    @Flag(help: "Print all keys with their values, defaults and meanings.")
    var printKeys = false

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard printKeys else { throw ValidationError("Say what to print: --print-keys.") }
    }

    func run() async throws {
        try await ToolError.reporting {
            let scope = scope ?? ""
            try StandardOutput.write(json ? Self.json(scope) : Self.text(scope))
        }
    }

    private static func name(_ key: ConfigurationKey, _ scope: String) -> String {
        scope.isEmpty ? key.name : "\(scope).\(key.name)"
    }

    /// A paragraph for each key.
    static func text(_ scope: String) -> String {
        ConfigurationKey.all.map { key -> String in
            var values = "    \(key.valuesText); default: \(key.defaultText)"
            if key.isSecret { values += "; secret" }
            if key.appliesAtRunTime { values += "; applies at once" }
            return """
                \(name(key, scope))  \(key.environmentVariable(inScope: scope))
                \(values)
                    \(key.meaning)

                """
        }.joined(separator: "\n")
    }

    static func json(_ scope: String) -> String {
        let keys = ConfigurationKey.all.map { key in
            PrintedJSON.object([
                (key: "key", value: .string(name(key, scope))),
                (key: "variable", value: .string(key.environmentVariable(inScope: scope))),
                (key: "values", value: .string(key.valuesText)),
                (key: "default", value: .string(key.defaultText)),
                (key: "secret", value: .bool(key.isSecret)),
                (key: "applies", value: .string(key.appliesAtRunTime ? "at_once" : "at_start")),
                (key: "meaning", value: .string(key.meaning)),
            ])
        }
        return PrintedJSON.array(keys).text(pretty: true) + "\n"
    }
}
