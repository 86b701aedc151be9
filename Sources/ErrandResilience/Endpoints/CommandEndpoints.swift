/// Several servers for the requests of commands, instead of those that the client has for the same base URL
/// (``Command/resilience``).
///
/// ```swift
/// let replicas = CommandEndpoints(try ServiceEndpoints(of: "https://api.example.com", .list(readers)))
///
/// struct Search: Command {
///     var path: String { "search" }
///     var resilience: RequestResilience? { .init(endpoints: .own(replicas)) }
/// }
/// ```
///
/// Health, latencies and the list belong to this object. Make it once, and give it to all commands that share them,
/// including commands of other clients. Any thread.
public final class CommandEndpoints: Sendable {
    let group: EndpointGroup

    /// Makes endpoints whose health is not known yet. `clock`: a monotonic clock.
    public init(_ endpoints: ServiceEndpoints, clock: any Clock<Duration> = ContinuousClock()) {
        group = EndpointGroup(endpoints, stopwatch: Stopwatch(clock), isShared: true)
    }

    /// The endpoints, with their health and counts.
    public var set: EndpointSet { group.set }
    /// Scheme, host and port of the base URL. Requests to other origins, such as those of a redirect, go to their URLs.
    public var origin: String { group.settings.origin }
}
