import ArgumentParser
import RivalSupport

@main
struct ErrandModes: ParsableCommand {
    enum Mode: String, CaseIterable, ExpressibleByArgument {
        case closure
        case async
        case asyncOnQueue = "async-on-queue"
        case decoder
    }

    static let configuration = CommandConfiguration(
        commandName: "errand-modes",
        abstract: "Errand under the load of scripts/bench, as the rivals are: typed and rich requests too.")

    @OptionGroup var arguments: RivalArguments

    @Option(
        help:
            "closure: Client.start. async: Client.run. async-on-queue: the same, the callback queue being the executor of all tasks. decoder: no request, a value encoded and decoded."
    )
    var mode = Mode.closure

    func run() throws {
        let plan = try RivalPlan(arguments)
        DescriptorLimit.raise()
        switch mode {
        case .closure, .async, .asyncOnQueue: try ErrandRival(plan, mode).measure(plan)
        case .decoder: try DecoderAlone().measure(plan)
        }
    }
}
