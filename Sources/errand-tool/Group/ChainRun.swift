import ArgumentParser
import Errand

struct ChainRun: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chain",
        abstract: "Runs the requests of .http files, one after another.",
        discussion: """
            A request may refer to the responses of earlier ones, such as {{login.response.body.$.token}}. The first \
            failure ends the chain. A status of 200 to 299 is a success, unless the request has '# @expect'. The \
            format is that of the VS Code REST Client and of JetBrains' HTTP Client; docs/http-files.md lists what is \
            supported.

            \(HTTPFileArguments.jsonHelp)
            """)

    @OptionGroup var arguments: HTTPFileArguments

    @Flag(help: "Continue after a failure.")
    var keepGoing = false

    func run() async throws {
        try await ToolError.reporting {
            let plan = try HTTPFilePlan(arguments, order: .sequential)
            try await GroupRun(plan, arguments).run { run in
                await run.chain(keepsGoing: keepGoing)
            }
        }
    }
}
