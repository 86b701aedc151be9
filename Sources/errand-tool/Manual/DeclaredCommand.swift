import ArgumentParser
import Foundation

/// A command as ArgumentParser describes it, with everything that its code declares.
struct DeclaredCommand: Decodable {
    struct Argument: Decodable {
        struct Name: Decodable {
            let kind: String
            let name: String

            var text: String { kind == "long" ? "--\(name)" : "-\(name)" }
        }

        /// `positional`, `option` or `flag`.
        let kind: String
        let shouldDisplay: Bool
        let isOptional: Bool
        let isRepeating: Bool
        let names: [Name]?
        let valueName: String?
        let defaultValue: String?
        let allValues: [String]?
        let abstract: String?
        let discussion: String?
    }

    let commandName: String
    let shouldDisplay: Bool
    let abstract: String?
    let discussion: String?
    let subcommands: [DeclaredCommand]?
    let arguments: [Argument]?

    private struct Whole: Decodable {
        let command: DeclaredCommand
    }

    /// The description of the tool itself.
    static func tool() throws(ToolError) -> DeclaredCommand {
        do {
            return try JSONDecoder().decode(Whole.self, from: Data(Tool._dumpHelp().utf8)).command
        } catch {
            throw ToolError(.internalFailure, "the declared options cannot be read: \(ToolError.reason(error))")
        }
    }

    /// The subcommands that `--help` shows, without the `help` command that ArgumentParser adds.
    var shownSubcommands: [DeclaredCommand] {
        (subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" }
    }

    var positionals: [Argument] {
        (arguments ?? []).filter { $0.shouldDisplay && $0.kind == "positional" }
    }

    var options: [Argument] {
        (arguments ?? []).filter { $0.shouldDisplay && $0.kind != "positional" }
    }
}
