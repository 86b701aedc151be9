import ArgumentParser
import RivalSupport

@main
struct AsyncHTTPClientRival: ParsableCommand {
    enum Mode: String, CaseIterable, ExpressibleByArgument {
        case async
        case asyncOnLoop = "async-on-loop"
        case future
    }

    static let configuration = CommandConfiguration(
        commandName: "rival-async-http-client",
        abstract: "AsyncHTTPClient under the load of scripts/bench.")

    @OptionGroup var arguments: RivalArguments

    @Option(
        help: """
            async: execute and collect from tasks. async-on-loop: the same, the event loop being the executor of all \
            tasks. future: EventLoopFutures, the next request from the last one's callback.
            """)
    var mode = Mode.asyncOnLoop

    func run() throws {
        let plan = try RivalPlan(arguments)
        DescriptorLimit.raise()
        try rival(plan).measure(plan)
    }

    private func rival(_ plan: RivalPlan) throws -> any Rival {
        switch mode {
        case .async: try AsyncRival(plan, mode.rawValue, .own())
        case .asyncOnLoop: try AsyncRival(plan, mode.rawValue, .executor())
        case .future: try FutureRival(plan, mode.rawValue)
        }
    }
}
