/// Stands between a client and its engine: every transfer of the client goes through the transport that the layer makes,
/// also those of caches, groups, downloads and shared transfers. The module `ErrandResilience` has one.
package protocol TransportLayer: Sendable {
    /// Makes a client's transport over the one beneath. Called once, when the client is made. `stopwatch`: the client's
    /// clock.
    func makeTransport(over base: any Transport, stopwatch: Stopwatch) -> any Transport
}
