import Errand
import Synchronization

/// Carries out the iterations of a scenario with steps: one task for each user that runs.
final class StepsRunner: Sendable {
    let scenario: Int
    let share: LoadShare
    let seed: UInt64
    let data: [LoadData]
    let errorStatuses: StatusCodes
    let isOpen: Bool
    let recorder: LoadRecorder
    private let clients: ScenarioClients
    private let steps: @Sendable (LoadUser) async throws -> Void
    /// The last task of each user.
    private let tasks = Mutex<[Int: Task<Void, Never>]>([:])

    init(
        _ scenario: LoadScenario, number: Int, _ plan: LoadPlan, _ clients: ScenarioClients, _ recorder: LoadRecorder,
        _ steps: @escaping @Sendable (LoadUser) async throws -> Void
    ) {
        self.scenario = number
        share = plan.share
        seed = LoadRandom.draw(plan.seed, UInt64(number), 3)
        data = scenario.data
        errorStatuses = scenario.errorStatuses
        if case .arrivals = scenario.shape { isOpen = true } else { isOpen = false }
        self.recorder = recorder
        self.clients = clients
        self.steps = steps
    }

    /// Starts a user with this iteration. Any thread.
    func start(_ iteration: LoadLedger.Iteration) {
        tasks.withLock { tasks in
            tasks[iteration.user] = Task { await self.run(iteration) }
        }
    }

    /// Cancels all users that run.
    func cancel() {
        for task in tasks.withLock({ Array($0.values) }) { task.cancel() }
    }

    /// How long a user waits after an iteration that failed before it sent a request; twice as long after the next one.
    private static let shortestPause = Duration.milliseconds(10)
    private static let longestPause = Duration.seconds(1)

    private func run(_ first: LoadLedger.Iteration) async {
        var next: LoadLedger.Iteration? = first
        var pause = Duration.zero
        while let iteration = next {
            let (following, failed) = await carryOut(iteration)
            next = following
            // In the open model the arrivals have their own rate.
            if failed, !isOpen, following != nil {
                pause = min(max(pause * 2, Self.shortestPause), Self.longestPause)
                // Cancelled when the run is over.
                try? await Task.sleep(for: pause)
            } else {
                pause = .zero
                // Steps that never wait would keep a thread of the pool busy.
                await Task.yield()
            }
        }
    }

    /// Returns the next iteration of the user, and whether this one failed before it sent a request.
    private func carryOut(_ iteration: LoadLedger.Iteration) async -> (LoadLedger.Iteration?, Bool) {
        let client = clients.client(of: iteration.user, needsBody: true, isNewVisitor: isOpen)
        let user = LoadUser(iteration, self, client, clients.jar(of: iteration.user))
        var ending = LoadLedger.IterationEnd.completed
        var text: String?
        var leaves = false
        do {
            try await steps(user)
        } catch is CancellationError {
            ending = .interrupted
        } catch ErrandError.shutDown {
            ending = .interrupted
        } catch let error as LoadDataError {
            ending = .failed
            text = error.description
            if case .exhausted = error { leaves = true }
        } catch {
            ending = .failed
            // The failures of requests are counted with the requests.
            if !(error is ErrandError) { text = "the steps threw: \(error)" }
        }
        let hasSent = user.hasSent
        let next = recorder.end(iteration, ending, hasSent: hasSent, leaves: leaves, text: text)
        return (next, ending == .failed && !hasSent)
    }
}
