import ArgumentParser
import Errand
import Foundation

@main
struct Tool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "errand",
        abstract: "Sends HTTP requests with the Errand engine.",
        version: ToolVersion.text,
        subcommands: [
            Fetch.self, DownloadCommand.self, BatchRun.self, ChainRun.self, Bench.self, BenchCompare.self,
            BenchMerge.self, ConfigCommand.self, ManualCommand.self,
        ])

    static func main() async {
        Descriptor.holdStandard()
        OpenFiles.allowAll()
        // When Dispatch first needs the descriptors of its timers and signals, it opens them on its own thread, and
        // traps if none is left. They are opened here, before the engine may take the last ones.
        try? await Task.sleep(for: .nanoseconds(1))
        let arguments = AttachedValues.split(BenchWords.joined(Array(CommandLine.arguments.dropFirst())))
        do {
            var command = try parseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            end(error, of: arguments)
        }
    }

    /// Prints the message of the error and ends the process.
    private static func end(_ error: any Error, of arguments: [String]) -> Never {
        let code = exitCode(for: error)
        if code.isSuccess {
            let text = BenchCompletion.completed(fullMessage(for: error))
            // The exit codes come last, so that they are visible at the end of the terminal.
            let isHelp = text.hasPrefix("OVERVIEW: ")
            print(isHelp ? text + (text.hasSuffix("\n") ? "\n" : "\n\n") + ExitStatus.help : text)
        } else if !(error is ExitCode) {
            StandardError.print(usage(error, of: arguments))
        }
        Interrupt.end(with: code.rawValue)
    }

    /// The mistake, the values that the option accepts, and where to find more help, on two lines. The list of all
    /// options is not included.
    private static func usage(_ error: any Error, of arguments: [String]) -> String {
        let commands = configuration.subcommands.filter { $0.configuration.shouldDisplay }
            .map { $0.configuration.commandName ?? $0._commandName }
        guard let command = commands.first(where: arguments.contains) else {
            guard let first = arguments.first, !first.hasPrefix("-") else {
                return lines(error, of: arguments, name: "errand")
            }
            let words = commands.filter { BenchWords.shown($0) == $0 }
            let known = words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
            return "errand: '\(Shown.url(first))' is not a subcommand, expected \(known)\nSee 'errand --help'."
        }
        return lines(error, of: arguments, name: "errand \(BenchWords.shown(command))")
    }

    /// ArgumentParser repeats arguments as given, and an argument may be a URL with a password.
    private static func withoutPasswords(_ message: String, of arguments: [String]) -> String {
        var message = message
        var option = ""
        for argument in arguments {
            var value = argument
            // Also the form `--option=value`.
            if argument.hasPrefix("-"), let mark = argument.firstIndex(of: "=") {
                option = String(argument[..<mark])
                value = String(argument[mark...].dropFirst())
            }
            let shown =
                ["-H", "--header"].contains(option) ? String(value.prefix { $0 != " " }) + "..." : Shown.url(value)
            if !value.isEmpty, shown != value { message = message.replacing(value, with: shown) }
            option = argument
        }
        return message
    }

    private static func lines(_ error: any Error, of arguments: [String], name: String) -> String {
        var lines = withoutPasswords(fullMessage(for: error), of: arguments).components(separatedBy: "\n")
        if let usage = lines.firstIndex(where: { $0.hasPrefix("Usage: ") }) { lines.removeSubrange(usage...) }
        // The format is `Help:  -m <timeout>  What it takes.`
        let help = lines.first { $0.hasPrefix("Help: ") }?.components(separatedBy: "  ").dropFirst(2) ?? []
        let choices = lines.filter { $0.hasPrefix("  - ") }.map { $0.dropFirst(4) }
        let message = lines.filter { !$0.hasPrefix("Help: ") && !$0.hasPrefix("  - ") }.joined(separator: " ")
            .trimmingPrefix("Error: ")
        let first = Shown.text(
            ([String(message)] + (choices.isEmpty ? [] : [choices.joined(separator: ", ")])).joined(separator: " "))
        return "errand: \(first)\n" + (help + ["See '\(name) --help'."]).joined(separator: " ")
    }
}
