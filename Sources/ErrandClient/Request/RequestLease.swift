/// Stops a request when the lease is released. For an owner whose requests must not outlive it.
///
/// ```swift
/// final class Screen {
///     private var load: RequestLease?
///     func reload() { load = client.start(GetUser(id: 1)) { ... }.lease() }
/// }
/// ```
///
/// Without a lease a request lives until it ends, even if all references to it are released.
public final class RequestLease: Sendable {
    /// The request that is stopped.
    public let request: AnyRequest

    init(_ request: AnyRequest) {
        self.request = request
    }

    deinit {
        request.stop()
    }
}

extension AnyRequest {
    /// Returns a lease, whose release stops the request; see ``stop()``.
    public final func lease() -> RequestLease {
        RequestLease(self)
    }
}
