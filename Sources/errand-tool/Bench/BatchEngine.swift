import Errand
import HTTPTypes
import Synchronization

/// Sends the load as the children of one `Batch`, which limits how many run at a time.
final class BatchEngine: BenchEngine {
    /// A command that reports the end of its request. The ticket is taken when the batch asks for the command.
    private struct Counted: Command {
        let command: BenchCommand
        /// `nil`: the run is over.
        let report: (@Sendable (BenchLoad.Outcome) -> Void)?

        var method: HTTPRequest.Method { command.method }
        var path: String { report == nil ? "http://" : command.path }
        var body: RequestBody { command.body }
        var cache: CachePolicy? { command.cache }
        var options: CommandOptions { command.options }
        var acceptedStatusCodes: StatusCodes { .any }
        var failureFilter: (@Sendable (Request<Self>) -> Void)? {
            { request in request.command.report?(BenchLoad.Outcome(request.error ?? .cancelled)) }
        }

        func decode(_ response: Errand.Response) throws -> NoContent {
            report?(BenchLoad.Outcome(response))
            return NoContent()
        }
    }

    let loops: Int
    private let client: Client
    private let command: BenchCommand
    private let count: Int
    /// The tickets of the requests that have not ended, by their number in the batch.
    private let open = Mutex<[Int: BenchLoad.Ticket]>([:])
    /// Set once, when the run begins.
    private let load = Mutex<BenchLoad?>(nil)

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
        self.load.withLock { $0 = load }
        let batch = Batch(count: count, policy: .collectAll, maxConcurrent: width) { [self] number in
            guard let ticket = load.begin() else { return Counted(command: command, report: nil) }
            open.withLock { $0[number] = ticket }
            return Counted(command: command) { [self] in end(number, $0) }
        }
        client.start(batch) { [self] request in
            // Failures that no filter has reported.
            for (number, error) in request.value?.failures ?? [] { end(number, BenchLoad.Outcome(error)) }
        }
    }

    /// Counts the end of a request once.
    private func end(_ number: Int, _ outcome: BenchLoad.Outcome) {
        guard let ticket = open.withLock({ $0.removeValue(forKey: number) }) else { return }
        load.withLock { $0 }?.end(ticket, outcome)
    }

    /// Not supported: this engine has no open loop.
    func send(_ ticket: BenchLoad.Ticket, _ load: BenchLoad) {
        load.end(ticket, BenchLoad.Outcome(ErrandError.invalidArgument))
    }

    var resilience: ResilienceParts.Counts? { client.resilience?.counts }

    /// A batch that is stopped does not report its children, so the requests that are left are counted here.
    func cancel() {
        client.shutdown(.cancel) { [self] in
            for number in open.withLock({ Array($0.keys) }) { end(number, BenchLoad.Outcome(ErrandError.shutDown)) }
        }
    }

    func shutDown() async {
        await client.shutdown(.cancel)
    }
}
