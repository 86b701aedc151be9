/// Where the list of endpoints comes from. A value: any thread.
public struct EndpointSource: Sendable {
    enum Kind: Sendable {
        case list([Endpoint])
        case closure(initial: [Endpoint], every: Duration, @Sendable () async throws -> [Endpoint])
        case dns(every: Duration)
    }

    let kind: Kind

    /// This list, which ``EndpointSet/replace(_:)`` may change.
    public static func list(_ endpoints: [Endpoint]) -> EndpointSource { EndpointSource(kind: .list(endpoints)) }

    /// The list that the closure returns. It is asked at the first request and, as long as there are requests, again
    /// after `every` (at least 100 ms). Requests do not wait for it: until the first answer `initial` is used, and the
    /// base URL itself where that is empty. If the closure throws, the last list stays.
    public static func closure(
        initial: [Endpoint] = [], every: Duration, _ fetch: @escaping @Sendable () async throws -> [Endpoint]
    ) -> EndpointSource {
        EndpointSource(kind: .closure(initial: initial, every: max(every.clampedWait, shortestTime), fetch))
    }

    /// The addresses of the base URL's host. The name is looked up at the first request and, as long as there are
    /// requests, again after `every` (at least 100 ms). Requests do not wait for it: until the first answer they go to
    /// the base URL. If the look-up fails, the last addresses stay.
    public static func dns(every: Duration = .seconds(30)) -> EndpointSource {
        EndpointSource(kind: .dns(every: max(every.clampedWait, shortestTime)))
    }

    private static let shortestTime = Duration.milliseconds(100)
}
