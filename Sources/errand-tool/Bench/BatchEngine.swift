import Errand
import HTTPTypes

/// Sends the load as the children of one `Batch`, which limits how many run at a time.
final class BatchEngine: BenchEngine {
    /// A command that counts its own request. The ticket is taken when the batch asks for the command, and is counted
    /// as ended when the response is decoded.
    private struct Counted: Command {
        let command: BenchCommand
        let load: BenchLoad
        /// `nil`: the run is over.
        let ticket: BenchLoad.Ticket?

        var method: HTTPRequest.Method { command.method }
        var path: String { ticket == nil ? "http://" : command.path }
        var body: RequestBody { command.body }
        var cache: CachePolicy? { command.cache }
        var options: CommandOptions { command.options }
        var acceptedStatusCodes: StatusCodes { .any }

        func decode(_ response: Errand.Response) throws -> NoContent {
            if let ticket { load.end(ticket, BenchLoad.Outcome(response)) }
            return NoContent()
        }
    }

    let loops: Int
    private let client: Client
    private let command: BenchCommand
    private let count: Int

    /// Throws the error with which every request would fail.
    init(_ plan: BenchPlan) throws {
        guard let requests = plan.requests, plan.duration == nil, plan.rate == nil else {
            throw ToolError(.usage, "--mode batch requires -n and does not allow -d or --rate")
        }
        client = BenchClient.make(plan)
        _ = try client.describe(plan.command)
        loops = BenchClient.loops(plan)
        command = plan.command
        count = Int(clamping: requests + plan.warmUp)
    }

    func run(_ load: BenchLoad, count width: Int) {
        let batch = Batch(count: count, policy: .collectAll, maxConcurrent: width) { [command] _ in
            Counted(command: command, load: load, ticket: load.begin())
        }
        client.start(batch) { request in
            let now = BenchLoad.Ticket(time: MonotonicTime.now)
            for (_, error) in request.value?.failures ?? [] { load.end(now, BenchLoad.Outcome(error)) }
        }
    }

    /// Not supported: this engine has no open loop.
    func send(_ ticket: BenchLoad.Ticket, _ load: BenchLoad) {
        load.end(ticket, BenchLoad.Outcome(ErrandError.invalidArgument))
    }

    var resilience: ResilienceParts.Counts? { client.resilience?.counts }

    func cancel() {
        client.shutdown(.cancel) {}
    }

    func shutDown() async {
        await client.shutdown(.cancel)
    }
}
