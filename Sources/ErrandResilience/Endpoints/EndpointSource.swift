/// Where the list of endpoints comes from. A value: any thread.
public struct EndpointSource: Sendable {
    enum Kind: Sendable {
        case list([Endpoint])
        case closure(
            initial: [Endpoint], every: Duration, timeout: Duration, @Sendable () async throws -> [Endpoint])
        case dns(every: Duration, timeout: Duration, LookUp)
    }

    /// The addresses of a host and a port.
    typealias LookUp = @Sendable (_ host: String, _ port: Int) async throws -> [String]

    let kind: Kind

    /// This list, which ``EndpointSet/replace(_:)`` may change.
    public static func list(_ endpoints: [Endpoint]) -> EndpointSource { EndpointSource(kind: .list(endpoints)) }

    /// The list that the closure returns. The closure is called at the first request and, as long as there are
    /// requests, again after `every` (at least 100 ms). Requests do not wait for it: until the first answer they go to
    /// `initial`, or to the base URL itself if `initial` is empty. If the closure throws, the last list stays.
    ///
    /// A closure that has not returned after `timeout` (10 s by default, at least 100 ms) has failed: its task is
    /// cancelled, and a list that it returns later is ignored. A closure that ignores the cancellation runs on, beside
    /// the next call.
    public static func closure(
        initial: [Endpoint] = [], every: Duration, timeout: Duration = .seconds(10),
        _ fetch: @escaping @Sendable () async throws -> [Endpoint]
    ) -> EndpointSource {
        EndpointSource(kind: .closure(initial: initial, every: bounded(every), timeout: bounded(timeout), fetch))
    }

    /// The addresses of the base URL's host. The name is looked up at the first request and, as long as there are
    /// requests, again after `every` (at least 100 ms). Requests do not wait for it: until the first answer they go to
    /// the base URL. If the look-up fails, the last addresses stay. A look-up that has no answer after `timeout` (10 s
    /// by default, at least 100 ms) has failed, and a later answer is ignored.
    public static func dns(every: Duration = .seconds(30), timeout: Duration = .seconds(10)) -> EndpointSource {
        dns(every: every, timeout: timeout) { host, port in try await HostAddresses.look(up: host, port: port) }
    }

    /// The same with another way of looking up a name.
    static func dns(
        every: Duration, timeout: Duration = .seconds(10), _ lookUp: @escaping LookUp
    ) -> EndpointSource {
        EndpointSource(kind: .dns(every: bounded(every), timeout: bounded(timeout), lookUp))
    }

    private static func bounded(_ time: Duration) -> Duration { max(time.clampedWait, .milliseconds(100)) }
}
