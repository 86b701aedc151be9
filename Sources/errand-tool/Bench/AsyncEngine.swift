import Errand

/// The load through `Client.run`: one task a connection, each awaiting one request after the other.
final class AsyncEngine: BenchEngine {
    let loops: Int
    private let client: Client
    /// What runs the tasks; `nil`: the pool.
    private let queue: CallbackQueue?
    private let command: BenchCommand

    /// Throws what every request would fail with.
    init(_ plan: BenchPlan, on queue: CallbackQueue? = nil) throws(ErrandError) {
        self.queue = queue
        client = BenchClient.make(plan, callbacks: queue)
        _ = try client.describe(plan.command)
        loops = BenchClient.loops(plan)
        command = plan.command
    }

    // No helper between the task and `run`, and no outcome in the task: its frames count as memory per request in flight.
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
