import Errand

/// Sends the load through `Client.start` with closures; the closure of each request starts the next one.
final class ClosureEngine: BenchEngine {
    let loops: Int
    private let client: Client
    private let command: BenchCommand

    /// Throws the error with which every request would fail.
    init(_ plan: BenchPlan, on queue: CallbackQueue? = nil) throws(ErrandError) {
        client = BenchClient.make(plan, callbacks: queue)
        _ = try client.describe(plan.command)
        loops = BenchClient.loops(plan)
        command = plan.command
    }

    func run(_ load: BenchLoad, count: Int) {
        for _ in 0..<count {
            guard let ticket = load.begin() else { return }
            start(ticket, load)
        }
    }

    private func start(_ ticket: BenchLoad.Ticket, _ load: BenchLoad) {
        client.start(command) { [self] request in
            if let next = load.endAndBegin(ticket, BenchLoad.Outcome(request)) {
                start(next, load)
            }
        }
    }

    func send(_ ticket: BenchLoad.Ticket, _ load: BenchLoad) {
        client.start(command) { request in
            load.end(ticket, BenchLoad.Outcome(request))
        }
    }

    var resilience: ResilienceParts.Counts? { client.resilience?.counts }

    func cancel() {
        client.shutdown(.cancel) {}
    }

    func shutDown() async {
        await client.shutdown(.cancel)
    }
}
