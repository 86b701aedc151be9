import Synchronization

/// What interceptors know about the run that they are called for.
public struct InterceptionContext: Sendable {
    /// The maximum number of replays in one run. After that `next` throws ``ErrandError/interceptionFailed`` with
    /// ``InterceptionMisuse/tooManyTransfers``. A ``StepwiseInterceptor`` is not asked for another replay; the last
    /// result is used.
    public static let replayLimit = 8

    /// The request's ``AnyRequest/id``; 0 where there is no request, as in ``Client/cached(_:overrides:)``.
    public let requestID: UInt64
    /// The command of the request.
    public let command: any Command
    /// Values that interceptors keep for this run; the same storage through all replays.
    public let storage: Storage
    let progress: InterceptionProgress
    /// The connection options of requests without options of their own: the client's default.
    public internal(set) var connection = ConnectionOptions()
    /// The builder that knows the client's origins. `nil`: there is no client.
    var builder: RequestBuilder?
    var overrides: RequestOverrides?
    /// `nil`: there is no client.
    package var client: Client?
    /// The place of the interceptor that has this context.
    private var place = 0
    private let events: @Sendable (RequestEvent) -> Void

    init(
        requestID: UInt64, command: any Command, storage: Storage, progress: InterceptionProgress,
        connection: ConnectionOptions = ConnectionOptions(), builder: RequestBuilder? = nil,
        overrides: RequestOverrides? = nil, client: Client? = nil,
        events: @escaping @Sendable (RequestEvent) -> Void = { _ in }
    ) {
        self.requestID = requestID
        self.command = command
        self.storage = storage
        self.progress = progress
        self.connection = connection
        self.builder = builder
        self.overrides = overrides
        self.client = client
        self.events = events
    }

    /// A context without a request, for a test that calls one interceptor. `client`: runs the interceptor's commands, and
    /// knows its own origins.
    package init(testing command: any Command, replays: Int, lastURL: String?, client: Client?) {
        self.init(
            requestID: 0, command: command, storage: Storage(),
            progress: InterceptionProgress(replays: replays, kind: .test),
            connection: client?.connection ?? ConnectionOptions(), builder: client?.builder, client: client)
        // None of the client's interceptors is left out of the commands that the interceptor runs.
        place = -1
        progress.lastURL = lastURL
    }

    /// The context of the interceptor at that place.
    func at(_ place: Int) -> InterceptionContext {
        var context = self
        context.place = place
        return context
    }

    /// The number of replays of this run so far: one for each transfer for which an interceptor has called `next` again,
    /// or is about to. It may change with each call of `next`.
    public var replays: Int { progress.replays }

    /// The URL of the last transfer, after redirects; it may differ from the prepared URL. `nil` before the end of the
    /// first transfer.
    public internal(set) var lastURL: String? {
        get { progress.lastURL }
        nonmutating set { progress.lastURL = newValue }
    }

    /// Reports an event of the run to the observers of the request, unless the run has ended.
    package func notify(_ event: RequestEvent) { events(event) }

    /// Whether anybody still waits for the interceptor. False after the run has ended, was stopped or has used up its
    /// time, and in a cancelled task.
    package var isWanted: Bool { progress.isOpen && !Task.isCancelled }

    /// Whether `url`, an absolute URL, has the origin (scheme, host and port) of the client's
    /// ``Client/Settings/baseURL`` or ``Client/Settings/cdnURL``, or of the command's own. By default
    /// ``Client/Settings/authorization`` is sent only to these origins.
    ///
    /// A command leads to another origin by an absolute URL or a path such as `//host/x`; a URL filter can do so too.
    /// For a client that has neither a base URL nor a CDN URL, the result is true for every URL.
    public func isOwnOrigin(_ url: String) -> Bool {
        guard let builder, builder.baseURL != nil || builder.cdnURL != nil else { return true }
        let resilience = overrides?.resilience ?? command.givenResilience
        return builder.isOwn(url, of: command, overrides, builder.upgrader(by: resilience))
    }

    /// Values stored by their type. May be used from any thread.
    public final class Storage: Sendable {
        private let values = Mutex<[ObjectIdentifier: any Sendable]>([:])

        /// The value of that type; `nil` if none was set.
        public subscript<Value: Sendable>(type: Value.Type) -> Value? {
            get { values.withLock { $0[ObjectIdentifier(type)] } as? Value }
            set {
                let replaced = values.withLock { values in
                    let replaced = values.removeValue(forKey: ObjectIdentifier(type))
                    values[ObjectIdentifier(type)] = newValue
                    return replaced
                }
                // The old value is released here, not under the lock: its `deinit` may be the user's.
                _ = replaced
            }
        }
    }
}

extension InterceptionContext {
    /// Runs another command on the client of the request, as ``Client/run(_:overrides:)`` does, and returns its value.
    ///
    /// The command passes through the client's interceptors, except the one that calls this method: an interceptor of the
    /// client that runs a command for each request does not intercept that command too. The command is stopped when the
    /// request is stopped or the request's ``Timeouts/total`` expires. The command may start while the client drains,
    /// because a running request waits for it. The callback queue is not occupied meanwhile.
    ///
    /// Throws the same errors as `run`. It also throws ``ErrandError/interceptionFailed`` with
    /// ``InterceptionMisuse/tooDeep`` if such commands are nested more than eight levels deep.
    public func run<C: Command>(_ command: C, overrides: RequestOverrides? = nil) async throws -> C.Response {
        try await inScope { try await $0.run(command, overrides: overrides) }
    }

    /// Runs another command as ``run(_:overrides:)`` and returns its value with the response and its metrics.
    public func outcome<C: Command>(
        of command: C, overrides: RequestOverrides? = nil
    ) async throws -> Outcome<C.Response> {
        try await inScope { try await $0.outcome(of: command, overrides: overrides) }
    }

    private func inScope<Value: Sendable>(_ body: (Client) async throws -> Value) async throws -> Value {
        guard let client else {
            throw ErrandError.invalidArgument.with(message: "the context of the interceptor has no client")
        }
        let scope = try InterceptionScope.current.entered(by: place, of: client)
        return try await InterceptionScope.$current.withValue(scope) { try await body(client) }
    }
}
