import ArgumentParser
import Errand

struct BatchRun: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "batch",
        abstract: "Runs the requests of .http files concurrently.",
        discussion: """
            The format is that of the VS Code REST Client and of JetBrains' HTTP Client; docs/http-files.md lists what \
            is supported. A status of 200 to 299 is a success, unless the request has '# @expect'. All requests are \
            built before the first one is sent, so none may refer to the response of another; use errand chain for \
            that.

            The requests of a .har file, as a browser or fetch --har writes it, are sent again as they were recorded: \
            each entry is a request, redirects are not followed, and a status of 200 to 399 is a success. Fields that \
            were hidden when they were recorded are left out.

            \(HTTPFileArguments.jsonHelp)
            """)

    enum Policy: String, ExpressibleByArgument, CaseIterable, Sendable {
        case failFast = "fail-fast"
        case collectAll = "collect-all"

        var policy: BatchPolicy {
            switch self {
            case .failFast: .failFast
            case .collectAll: .collectAll
            }
        }
    }

    @OptionGroup var arguments: HTTPFileArguments

    @Option(help: "Maximum number of requests in flight, 1 to 10,000.")
    var maxConcurrent: Int = 64

    @Option(help: "After a failure, stop the other requests (fail-fast) or continue (collect-all).")
    var policy: Policy = .collectAll

    func run() async throws {
        try await ToolError.reporting {
            guard (1...10_000).contains(maxConcurrent) else {
                throw ToolError(.usage, "--max-concurrent is \(maxConcurrent), expected 1 to 10,000")
            }
            let plan = try HTTPFilePlan(arguments, order: .together)
            let commands = try plan.commands()
            try await GroupRun(plan, arguments).run { run in
                await run.batch(commands, policy: policy.policy, maxConcurrent: maxConcurrent)
            }
        }
    }
}
