import ArgumentParser
import RivalSupport

@main
struct URLSessionRival: ParsableCommand {
    enum Mode: String, CaseIterable, ExpressibleByArgument {
        case closure
        case async
    }

    static let configuration = CommandConfiguration(
        commandName: "rival-urlsession",
        abstract: "FoundationNetworking's URLSession under the load of scripts/bench.")

    @OptionGroup var arguments: RivalArguments

    @Option(help: "closure: dataTask with a completion handler. async: data(for:) from tasks.")
    var mode = Mode.async

    func validate() throws {
        if arguments.isHTTP2 {
            throw ValidationError("--http2: URLSession cannot be told which version to speak")
        }
        if arguments.cacert != nil {
            throw ValidationError("--cacert: on Linux, URLSession trusts the system's authorities and no other")
        }
    }

    func run() throws {
        let plan = try RivalPlan(arguments)
        DescriptorLimit.raise()
        try SessionRival(plan, mode).measure(plan)
    }
}
