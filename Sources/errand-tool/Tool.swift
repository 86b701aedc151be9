import ArgumentParser
import Errand
import Foundation

@main
struct Tool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "errand",
        abstract: "Sends HTTP requests with the Errand engine.",
        version: ToolVersion.text,
        subcommands: [Fetch.self, DownloadCommand.self, BatchRun.self, ChainRun.self, Bench.self])

    static func main() async {
        Descriptor.holdStandard()
        OpenFiles.allowAll()
        let arguments = AttachedValues.split(Array(CommandLine.arguments.dropFirst()))
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

    /// Says what is to be said, and ends the process.
    private static func end(_ error: any Error, of arguments: [String]) -> Never {
        let code = exitCode(for: error)
        if code.isSuccess {
            let text = fullMessage(for: error)
            // The exit codes come last, where who looks for them finds them on the terminal.
            let isHelp = text.hasPrefix("OVERVIEW: ")
            print(isHelp ? text + (text.hasSuffix("\n") ? "\n" : "\n\n") + ExitStatus.help : text)
        } else if !(error is ExitCode) {
            StandardError.print(usage(error, of: arguments))
        }
        Interrupt.end(with: code.rawValue)
    }

    /// What is wrong, what the option takes, and where there is more; not the list of all options.
    private static func usage(_ error: any Error, of arguments: [String]) -> String {
        var lines = fullMessage(for: error).components(separatedBy: "\n")
        if let usage = lines.firstIndex(where: { $0.hasPrefix("Usage: ") }) { lines.removeSubrange(usage...) }
        let command = configuration.subcommands.compactMap { $0.configuration.commandName ?? $0._commandName }
            .first { arguments.contains($0) }
        let name = command.map { "errand \($0)" } ?? "errand"
        let message = lines.joined(separator: "\n").trimmingPrefix("Error: ")
        return "errand: \(message)\nSee '\(name) --help'."
    }
}
