import ArgumentParser

@main
struct Tool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "errand",
        abstract: "Sends HTTP requests with the Errand engine.",
        discussion: ExitStatus.help,
        version: ToolVersion.text,
        subcommands: [Fetch.self, DownloadCommand.self, BatchRun.self, ChainRun.self, Bench.self])

    static func main() async {
        OpenFiles.allowAll()
        await main(nil)
    }
}
