import Errand

/// One way to send the load. The initialiser prepares the engine; `shutDown` ends its threads.
protocol BenchEngine: Sendable {
    /// Starts the closed loop with `count` requests in flight. Each response starts the next request until the load
    /// hands out no more tickets.
    func run(_ load: BenchLoad, count: Int)
    /// Sends one request now. Its end is counted for that ticket.
    func send(_ ticket: BenchLoad.Ticket, _ load: BenchLoad)
    /// The number of event loops.
    var loops: Int { get }
    /// What the client did about failures; `nil`: it was not configured to do anything about them.
    var resilience: ResilienceParts.Counts? { get }
    /// Cancels the requests in flight and every request that is sent later. Does not wait for them to end.
    func cancel()
    func shutDown() async
}
