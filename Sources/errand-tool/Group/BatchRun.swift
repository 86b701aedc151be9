import ArgumentParser
import Errand

struct BatchRun: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "batch",
        abstract: "Runs the requests of .http files, all together.",
        discussion: """
            The format is that of the VS Code REST Client and of JetBrains' HTTP Client; docs/http-files.md has what is \
            supported. A status of 200 to 299 is a success, unless the request says '# @expect'. Nothing is sent before all requests are made, so none may \
            refer to another's response: errand chain is for those.

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

    @Option(help: "Requests in flight at most, 1 to 10,000.")
    var maxConcurrent: Int = 64

    @Option(help: "After a failure: stop the rest (fail-fast), or go on (collect-all).")
    var policy: Policy = .collectAll

    func run() async throws {
        try await ToolError.reporting {
            guard (1...10_000).contains(maxConcurrent) else {
                throw ToolError(.usage, "--max-concurrent is 1 to 10,000, not \(maxConcurrent)")
            }
            let plan = try HTTPFilePlan(arguments, order: .together)
            let commands = try plan.commands()
            try await GroupRun(plan, arguments).run { run in
                await run.batch(commands, policy: policy.policy, maxConcurrent: maxConcurrent)
            }
        }
    }
}
