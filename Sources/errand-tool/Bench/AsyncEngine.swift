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

    // No helper between the task and `run`: each async frame would count as memory per request in flight.
    func run(_ load: BenchLoad, count: Int) {
        for _ in 0..<count {
            Task(executorPreference: queue) { [client, command] in
                var ticket = load.begin()
                while let current = ticket {
                    do {
                        let response = try await client.run(command)
                        ticket = load.endAndBegin(current, BenchLoad.Outcome(response))
                    } catch {
                        ticket = load.endAndBegin(current, BenchLoad.Outcome(error))
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
