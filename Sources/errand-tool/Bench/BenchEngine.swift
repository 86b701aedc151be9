/// One way to send the load. Made ready by its initialiser; `shutDown` ends its threads.
protocol BenchEngine: Sendable {
    /// Starts the closed loop: `count` requests at a time, each answer bringing the next, until the load says enough.
    func run(_ load: BenchLoad, count: Int)
    /// Sends one request now; its end is counted with that ticket.
    func send(_ ticket: BenchLoad.Ticket, _ load: BenchLoad)
    /// How many event loops there are.
    var loops: Int { get }
    /// Ends what is in flight, and what is sent from now on, at once, as cancelled. Does not wait.
    func cancel()
    func shutDown() async
}
