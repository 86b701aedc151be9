public import Errand
public import ServiceLifecycle

/// A client as a service of a `ServiceGroup`. It is shut down with the group, and its requests in flight may end first.
///
/// ```swift
/// let group = ServiceGroup(
///     services: [ClientService(client), server],
///     gracefulShutdownSignals: [.sigterm],
///     logger: logger)
/// try await group.run()
/// ```
///
/// A group stops its services in reverse order: each one when the service listed after it has ended. List the client
/// therefore before everything that sends requests with it. The server above ends its last request, for which it needs
/// the client, and then the client is drained.
///
/// - A graceful shutdown drains the client: new requests fail with ``/Errand/ErrandError/shutDown``, and requests in
///   flight may end within ``drainTime``. Requests that are still in flight then end with the same error.
/// - A cancellation ends all requests at once, also in the middle of a drain. A group cancels its services when one of
///   them fails, and after `maximumGracefulShutdownDuration`, which should be longer than the drain times of all
///   services together.
///
/// The client cannot be used after its service has ended, because a client cannot be started again. This type is a
/// wrapper, and not a conformance of `Client`, because a service has a time to drain, and because not every client
/// should look like a service.
public struct ClientService: Service {
    /// The client.
    public let client: Client
    /// How long requests in flight may take after the graceful shutdown. Zero: they end at once. Measured by the
    /// client's clock.
    public let drainTime: Duration

    /// Makes a service.
    ///
    /// - Parameters:
    ///   - client: A client that nothing else shuts down.
    ///   - drainTime: How long requests in flight may take after the graceful shutdown; 30 seconds by default.
    public init(_ client: Client, drainTime: Duration = .seconds(30)) {
        self.client = client
        self.drainTime = drainTime
    }

    /// Waits for the graceful shutdown or the cancellation of the task, then shuts the client down. Returns, without an
    /// error in either case, when all requests have reported their end, the engine's threads have ended, and the cache
    /// has stored its pending changes. The client may be used before this method is called.
    public func run() async throws {
        let mode: Client.ShutdownMode
        do {
            try await gracefulShutdown()
            mode = .drain(within: drainTime)
        } catch {
            // The only error is that of a cancelled task.
            mode = .cancel
        }
        await withTaskCancellationHandler {
            await client.shutdown(mode)
        } onCancel: {
            client.shutdown(.cancel) {}
        }
    }
}
