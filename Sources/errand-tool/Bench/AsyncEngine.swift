import Errand

/// Sends the load through `Client.run`: one task for each connection, which awaits its requests one after another.
final class AsyncEngine: BenchEngine {
    let loops: Int
    private let client: Client
    /// The executor of the tasks; `nil`: the global pool.
    private let queue: CallbackQueue?
    private let command: BenchCommand

    /// Throws the error with which every request would fail.
    init(_ plan: BenchPlan, on queue: CallbackQueue? = nil) throws(ErrandError) {
        self.queue = queue
        client = BenchClient.make(plan, callbacks: queue)
        _ = try client.describe(plan.command)
        loops = BenchClient.loops(plan)
        command = plan.command
    }

    // `run` is called directly, and the task keeps no outcome: async frames count as memory per request in flight.
    func run(_ load: BenchLoad, count: Int) {
        for _ in 0..<count {
            Task(executorPreference: queue) { [client, command] in
                var ticket = load.begin()
                while let current = ticket {
                    do {
                        ticket = load.answered(current, try await client.run(command))
                    } catch {
                        ticket = load.failed(current, error)
                    }
                }
            }
        }
    }

    func send(_ ticket: BenchLoad.Ticket, _ load: BenchLoad) {
        Task(executorPreference: queue) { [client, command] in
            do {
                load.end(ticket, BenchLoad.Outcome(try await client.run(command)))
            } catch {
                load.end(ticket, BenchLoad.Outcome(error))
            }
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

extension BenchLoad {
    @inline(never)
    fileprivate func answered(_ ticket: Ticket, _ response: Response) -> Ticket? {
        endAndBegin(ticket, Outcome(response))
    }

    @inline(never)
    fileprivate func failed(_ ticket: Ticket, _ error: any Error) -> Ticket? {
        endAndBegin(ticket, Outcome(error))
    }
}
