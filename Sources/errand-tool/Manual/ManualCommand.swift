import ArgumentParser
import Foundation

/// `errand manual DIR`, called by `scripts/install` and by packagers. `--help` does not show it.
struct ManualCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual",
        abstract: "Writes a man page for the tool and for each subcommand.",
        shouldDisplay: false)

    @Argument(help: "An existing directory for errand.1, errand-fetch.1 and so on.", completion: .directory)
    var directory: String

    func run() throws {
        do {
            for page in try ManualPage.all() {
                let path = directory + "/" + page.fileName
                do {
                    try Data(page.text.utf8).write(to: URL(fileURLWithPath: path))
                } catch {
                    throw ToolError(.outputFile, "cannot write '\(path)': \(ToolError.reason(error))")
                }
            }
        } catch let error as ToolError {
            StandardError.print("errand: \(error.message)")
            throw error.status.code
        }
    }
}
