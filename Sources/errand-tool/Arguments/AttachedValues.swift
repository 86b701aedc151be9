import ArgumentParser
import Foundation

/// Short options with attached values, as in `getopt`: `-c64`, `-XPOST`, `-Lo-`. ArgumentParser accepts an attached
/// value only after `=` (`-c=64`). Therefore the other forms are rewritten to that form, based on the options that each
/// subcommand declares.
enum AttachedValues {
    /// The short option names of one subcommand.
    private struct ShortNames {
        var flags: Set<Character> = []
        var options: Set<Character> = []
    }

    /// The arguments with each cluster of short options split. Other arguments stay unchanged, and ArgumentParser
    /// accepts or rejects them.
    static func split(_ arguments: [String]) -> [String] {
        guard arguments.contains(where: isCluster) else { return arguments }
        let commands = declared()
        guard let names = arguments.lazy.compactMap({ commands[$0] }).first else { return arguments }
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        return arguments[..<end].flatMap { isCluster($0) ? split($0, names) : [$0] } + arguments[end...]
    }

    private static func isCluster(_ argument: String) -> Bool {
        argument.hasPrefix("-") && !argument.hasPrefix("--") && argument.count > 2
    }

    private static func split(_ argument: String, _ names: ShortNames) -> [String] {
        var parts: [String] = []
        var rest = argument.dropFirst()
        while let letter = rest.popFirst() {
            if names.flags.contains(letter) {
                parts.append("-\(letter)")
            } else if names.options.contains(letter) {
                if rest.isEmpty { return parts + ["-\(letter)"] }
                return parts + [rest.first == "=" ? "-\(letter)\(rest)" : "-\(letter)=\(rest)"]
            } else {
                return [argument]
            }
        }
        return parts
    }

    // MARK: What the subcommands declare

    private struct Tree: Decodable {
        struct Command: Decodable {
            var commandName: String
            var arguments: [Argument]?
            var subcommands: [Command]?
        }

        struct Argument: Decodable {
            struct Name: Decodable {
                var kind: String
                var name: String
            }
            var kind: String
            var names: [Name]?
        }

        var command: Command
    }

    /// The short names by subcommand. ArgumentParser exposes the declared arguments only as JSON, for completions and
    /// manuals.
    private static func declared() -> [String: ShortNames] {
        guard let tree = try? JSONDecoder().decode(Tree.self, from: Data(Tool._dumpHelp().utf8)) else { return [:] }
        var commands: [String: ShortNames] = [:]
        for command in tree.command.subcommands ?? [] {
            var names = ShortNames()
            for argument in command.arguments ?? [] {
                for name in argument.names ?? [] where name.kind == "short" {
                    guard let letter = name.name.first else { continue }
                    if argument.kind == "flag" { names.flags.insert(letter) } else { names.options.insert(letter) }
                }
            }
            commands[command.commandName] = names
        }
        return commands
    }
}
