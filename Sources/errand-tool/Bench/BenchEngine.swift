/// One way to send the load. The initialiser prepares the engine; `shutDown` ends its threads.
protocol BenchEngine: Sendable {
    /// Starts the closed loop: `count` requests at a time. Each response starts the next request until the load hands
    /// out no more tickets.
    func run(_ load: BenchLoad, count: Int)
    /// Sends one request now; its end is counted for that ticket.
    func send(_ ticket: BenchLoad.Ticket, _ load: BenchLoad)
    /// The number of event loops.
    var loops: Int { get }
    /// Cancels the requests in flight, and every request that is sent later. Does not wait for them to end.
    func cancel()
    func shutDown() async
}
