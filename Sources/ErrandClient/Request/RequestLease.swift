/// Stops a request when it goes away: for an owner whose requests must not outlive it.
///
/// ```swift
/// final class Screen {
///     private var load: RequestLease?
///     func reload() { load = client.start(GetUser(id: 1)) { ... }.lease() }
/// }
/// ```
///
/// A request by itself lives until it is over, whoever drops it.
public final class RequestLease: Sendable {
    /// What is stopped.
    public let request: AnyRequest

    init(_ request: AnyRequest) {
        self.request = request
    }

    deinit {
        request.stop()
    }
}

extension AnyRequest {
    /// A value whose release stops the request; see ``stop()``.
    public final func lease() -> RequestLease {
        RequestLease(self)
    }
}
