public import Errand

/// A request of a ``LoadScenario`` that sends one of several requests in each iteration.
///
/// The command is built anew for each request, as in a service. The body of the response is counted and discarded, unless
/// the command decodes it, checks its shape or may be answered from a cache, or there are interceptors.
public struct WeightedRequest: Sendable {
    /// The name in reports. Default: the method and the URL template or path of the command.
    public var name: String
    /// How often the request is chosen, compared with the others. Default: 1.
    public var weight: Double
    /// Whether the body of the response is read.
    let needsBody: Bool
    /// Sends the request and reports its end to the sender.
    let send: @Sendable (Client, RequestSender, RequestSender.Flight) -> Void
    /// The description of the request, which is never sent.
    let describe: @Sendable (Client) throws(ErrandError) -> RequestDescription

    /// Any command.
    public init<C: Command>(_ command: C, named: String? = nil, weight: Double = 1) {
        name = named ?? Self.name(of: command)
        self.weight = weight
        var reads = C.Response.self != Errand.Response.self
        if command.givenShape != nil || command.givenValidator != nil { reads = true }
        if command.givenSuccessPreprocessor != nil || command.givenSuccessFilter != nil { reads = true }
        if let cache = command.givenCache, !cache.isOff { reads = true }
        if !command.givenInterceptors.isEmpty { reads = true }
        needsBody = reads
        send = { client, sender, flight in
            client.start(command) { request in sender.ended(flight, LoadOutcome(request)) }
        }
        describe = { client throws(ErrandError) in try client.describe(command) }
    }

    /// The name of a command without a name of its own: its method, and its URL template or its path without query.
    static func name(of command: some Command) -> String {
        let method = (try? command.givenMethod)?.rawValue ?? "?"
        let path = command.givenURLTemplate ?? String(command.path.prefix { $0 != "?" && $0 != "#" })
        return "\(method) \(path)"
    }
}
