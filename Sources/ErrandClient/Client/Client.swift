import Dispatch
import Synchronization

/// Runs commands. A program makes one client per service and keeps it.
///
/// ```swift
/// let client = Client(configuration: .init(baseURL: "http://127.0.0.1:8080"))
/// let user = try await client.run(GetUser(id: 1))
/// await client.shutdown(.drain(within: .seconds(5)))
/// ```
///
/// A client may be used from any thread. Making a client starts the engine's loop threads. The client lives as long as
/// the program holds a reference to it, and as long as one of its requests runs or is held. Releasing the last
/// reference stops the engine in the background. ``shutdown(_:)`` also stops the engine: its mode says what
/// becomes of running requests, and the call returns when everything has ended.
public final class Client: Sendable {
    package let transport: any Transport
    /// What stands between the client and its engine.
    let layers: [any TransportLayer]
    /// Whether there are ``layers``: read by every request.
    let hasLayers: Bool
    /// The transport beneath all layers: the engine, or what the caller passed.
    private let engine: any Transport
    /// The same transport, for requests that share transfers.
    let coalescing: CoalescingTransport
    /// Takes the transfers of cached requests; `nil` before the first cached request.
    let caching = CacheSlot()
    package let cacheBase: CacheBase
    /// Whether requests are cached whose commands have no cache policy.
    let cachesByDefault: Atomic<Bool>
    /// The present request builder; ``reconfigure(_:)`` replaces it.
    let building: Mutex<RequestBuilder>
    /// Held during a change of the settings, so that concurrent changes run one after the other.
    let reconfiguring = Mutex(())
    package let callbacks: CallbackQueue
    /// The queue that resumes `async` callers: a batch at a time, from a thread of the pool that runs them. If the loop
    /// thread resumed each caller itself, each resumption would wake a pool thread, which on a busy machine preempts
    /// the loop at once: one context switch per request, which costs 4 to 8 us.
    let resumptions = CallbackQueue.dispatchQueue(.global())
    let accessories: [any Accessory]
    /// The members of `accessories` that observe events.
    let observers: [any EventAccessory]
    package let interceptors: [any Interceptor]
    let reportsStops: Bool
    package let clock: any Clock<Duration>
    /// The clock, with its instants counted from the creation of the client.
    package let stopwatch: Stopwatch
    let life = Mutex(Life())

    struct Life: ~Copyable {
        var machine = ClientStateMachine()
        var requests = RequestList()
        /// Called when the shutdown is complete.
        var waiters: [@Sendable () -> Void] = []
        /// Tasks that sleep no longer than until the shutdown; see `sleep(for:)`.
        var sleeps: [UInt64: Task<Void, any Error>] = [:]
        var lastSleep: UInt64 = 0
    }

    /// Makes a client with its own engine. If the engine cannot be started, every request fails with the reason,
    /// usually ``ErrandError/unsupportedLibrary`` or ``ErrandError/systemFailure``.
    public convenience init(configuration: Configuration = Configuration()) {
        self.init(configuration, own: ReactorTransport(configuration))
    }

    /// Makes a client on a transport that the caller made: a stub, or a transport that several clients share. The
    /// engine settings of the configuration have no effect in this case.
    ///
    /// The caller keeps ownership of the transport. ``shutdown(_:)`` ends this client's requests and leaves the
    /// transport running for other clients. The caller shuts the transport down with ``Transport/shutdown(_:)`` when no
    /// client needs it any more.
    public convenience init(configuration: Configuration = Configuration(), transport: any Transport) {
        self.init(configuration, own: BorrowedTransport(transport))
    }

    /// Makes a client that owns `engine`: ``shutdown(_:)`` shuts this transport down.
    init(_ configuration: Configuration, own engine: any Transport) {
        self.engine = engine
        clock = configuration.clock
        let stopwatch = Stopwatch(configuration.clock)
        self.stopwatch = stopwatch
        let layers = configuration.layers.sorted { $0.position < $1.position }
        self.layers = layers
        hasLayers = !layers.isEmpty
        let context = TransportLayerContext(
            stopwatch: stopwatch, connection: configuration.settings.connection.resolved)
        let transport = layers.reduce(engine) { $1.makeTransport(over: $0, of: context) }
        self.transport = transport
        coalescing = CoalescingTransport(transport, stopwatch: stopwatch)
        cacheBase = CacheBase(
            transport: transport, coalescing: coalescing, stopwatch: stopwatch,
            connection: configuration.settings.connection, cookies: configuration.cookies)
        let cache = configuration.cacheStorage?.makeCache(over: cacheBase)
        if let cache { _ = caching.storeIfNil(cache) }
        cachesByDefault = Atomic(!configuration.settings.cache.isOff)
        building = Mutex(RequestBuilder(configuration))
        callbacks = configuration.callbackQueue ?? .serial()
        accessories = configuration.accessories
        observers = configuration.accessories.compactMap { $0 as? any EventAccessory }
        interceptors = configuration.interceptors
        reportsStops = configuration.reportsStops
    }

    /// The builder for requests that are built from now on.
    package var builder: RequestBuilder { building.withLock { $0 } }

    var redirects: RedirectPolicy { builder.settings.redirects }

    /// The connection options of requests without options of their own.
    package var connection: ConnectionOptions { builder.engine }

    // Inlined into the caller, which knows the command's type: the type of the request is not looked up at run time.
    /// Makes a request for `command` without starting it, for example to add accessories or a delegate first.
    @inlinable
    public func request<C: Command>(_ command: C, overrides: RequestOverrides? = nil) -> Request<C> {
        Request(of: self, command, overrides)
    }

    /// Returns what `command` would send, without sending it. Throws the error that a start would fail with.
    public func describe(
        _ command: some Command, overrides: RequestOverrides? = nil
    ) throws(ErrandError) -> RequestDescription {
        do throws(ErrandError) {
            if command.givenCoordinator?.carrier is any GroupCarrier {
                throw .invalidArgument.with(message: "a group has no request of its own to describe")
            }
            return try builder.description(of: command, overrides: overrides)
        } catch {
            throw error.refused
        }
    }

    /// The running requests, newest first. The list includes requests that a task waits for (``run(_:overrides:)``,
    /// ``stream(_:overrides:)``). A delegate that is set on such a request is called on the callback queue as usual,
    /// possibly after the task has resumed.
    public var requests: [AnyRequest] {
        life.withLock { $0.requests.all }
    }

    /// Stops every running request; see ``AnyRequest/stop()``. Requests can still be started afterwards (YTKNetwork
    /// `cancelAllRequests`).
    public func cancelAll() {
        // Stops the oldest requests first, so that groups are stopped before their children: a child that is stopped on
        // its own would fail its group.
        for request in requests.reversed() { request.stop() }
    }

    // MARK: Requests report here

    func requestStarted(_ request: AnyRequest) -> Bool {
        life.withLock { life in
            life.requests.add(request)
            return life.machine.requestStarted(isForRefresh: !RefreshScope.current.isEmpty)
        }
    }

    func requestEnded(_ request: AnyRequest) {
        let (action, reference) = life.withLock { ($0.machine.requestEnded(), $0.requests.remove(request)) }
        reference?.release()
        perform(action)
    }
}

extension Client {
    /// The cookies of the client; `nil` if ``Configuration/cookies`` is off or the transport is not the engine.
    public var cookies: CookieJar? {
        (engine as? ReactorTransport)?.cookies
    }
}
