import Errand

/// Sends the weighted requests of a scenario by closures; the closure of each request starts the next one of its user.
final class RequestSender: Sendable {
    /// A request under way.
    struct Flight: Sendable {
        let iteration: LoadLedger.Iteration
        let ticket: LoadLedger.Ticket
        /// The index of the request in its scenario.
        let request: Int
    }

    private let requests: [WeightedRequest]
    private let errorStatuses: StatusCodes
    private let clients: ScenarioClients
    private let recorder: LoadRecorder
    private let isOpen: Bool

    init(_ scenario: LoadScenario, _ requests: [WeightedRequest], _ clients: ScenarioClients, _ recorder: LoadRecorder)
    {
        self.requests = requests
        errorStatuses = scenario.errorStatuses
        self.clients = clients
        self.recorder = recorder
        if case .arrivals = scenario.shape { isOpen = true } else { isOpen = false }
    }

    /// Sends the request of an iteration. Any thread.
    func start(_ iteration: LoadLedger.Iteration) {
        guard let flight = recorder.flight(iteration, LoadClock.now) else { return }
        send(flight)
    }

    private func send(_ flight: Flight) {
        let needsBody = requests[flight.request].needsBody
        requests[flight.request].send(
            clients.client(of: flight.iteration.user, needsBody: needsBody, isNewVisitor: isOpen), self, flight)
    }

    /// Called on the callback queue at the end of each request.
    func ended(_ flight: Flight, _ outcome: LoadOutcome) {
        let now = LoadClock.now
        guard let next = recorder.endAndBegin(flight, outcome.judged(errorStatuses), now) else { return }
        send(next)
    }
}

extension LoadOutcome {
    /// The same outcome, but an answer with one of these statuses is an error.
    func judged(_ errors: StatusCodes) -> LoadOutcome {
        guard case .answered(let status) = ending, errors.contains(status) else { return self }
        var outcome = self
        outcome.ending = .rejected(status: status, LoadError(kind: "statusNotAccepted", phase: .check))
        outcome.text = "the status is \(status)"
        return outcome
    }
}
