import Errand

/// The load through `Client.run`: one task a connection, each awaiting one request after the other.
final class AsyncEngine: BenchEngine {
    let loops: Int
    private let client: Client
    private let command: RawCommand

    /// Throws what every request would fail with.
    init(_ plan: BenchPlan) throws(ErrandError) {
        client = BenchClient.make(plan)
        _ = try client.describe(plan.command)
        loops = BenchClient.loops(plan)
        command = plan.command
    }

    func run(_ load: BenchLoad, count: Int) {
        for _ in 0..<count {
            Task {
                guard var ticket = load.begin() else { return }
                while let next = load.endAndBegin(ticket, await outcome()) {
                    ticket = next
                }
            }
        }
    }

    func send(_ ticket: BenchLoad.Ticket, _ load: BenchLoad) {
        Task {
            load.end(ticket, await outcome())
        }
    }

    private func outcome() async -> BenchLoad.Outcome {
        do {
            return BenchLoad.Outcome(try await client.run(command))
        } catch let error as ErrandError {
            return BenchLoad.Outcome(error: BenchLoad.ErrorNote(ToolError(error)))
        } catch {
            return BenchLoad.Outcome(error: BenchLoad.ErrorNote(ToolError(.internalFailure, "\(error)")))
        }
    }

    func shutDown() async {
        await client.shutdown(.cancel)
    }
}
