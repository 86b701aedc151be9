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
/// reference stops the engine in the background. ``shutdown(_:)`` also stops the engine. Its mode determines how running
/// requests are treated, and the call returns when everything has ended. Several clients can share an engine
/// (``SharedEngine``).
public final class Client: Sendable {
    /// A client with the default configuration, for small programs and scripts. It is made when it is first used.
    ///
    /// It is never shut down unless the program does so, and cannot be used afterwards. A process may exit while its
    /// engine runs. A library or a service should make its own clients: all code in the process shares this one, so none
    /// of it knows when the client may be shut down.
    public static let shared = Client()

    package let transport: any Transport
    /// The layers between the client and its engine.
    let layers: [any TransportLayer]
    /// Whether there are ``layers``: read by every request.
    let hasLayers: Bool
    /// ``TransportLayer/timeLeftOfTask`` of the outermost layer that knows deadlines.
    let timeLeftOfTask: (@Sendable () -> Duration?)?
    /// Whether a layer observes attempts.
    let observesAttempts: Bool
    /// Whether a layer may send a transfer more than once.
    let sendsAgain: Bool
    /// The transport beneath all layers: the engine, or what the caller passed.
    private let engine: any Transport
    /// The same transport, for requests that share transfers.
    let coalescing: CoalescingTransport
    /// Takes the transfers of cached requests; `nil` before the first cached request.
    let caching = CacheSlot()
    package let cacheBase: CacheBase
    /// Whether requests whose commands have no cache policy are cached.
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
        /// Sleeping tasks that a shutdown cancels; see `sleep(for:)`.
        var sleeps: [UInt64: Task<Void, any Error>] = [:]
        var lastSleep: UInt64 = 0
    }

    /// Makes a client with its own engine, or on a shared one (``Configuration/sharedEngine``). If the engine cannot be
    /// started, every request fails with the reason, usually ``ErrandError/unsupportedLibrary`` or
    /// ``ErrandError/systemFailure``.
    public convenience init(configuration: Configuration = Configuration()) {
        guard let shared = configuration.sharedEngine else {
            self.init(configuration, own: ReactorTransport(configuration))
            return
        }
        switch shared.join(configuration.engine) {
        case .success(let lease):
            self.init(configuration, own: BorrowedTransport(lease), connection: ConnectionOptions())
        case .failure(let error):
            self.init(configuration, own: RefusingTransport(error))
        }
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
    ///
    /// - Parameter connection: The options of the engine's transfers that have none themselves; `nil`: those of
    ///   `configuration`.
    init(_ configuration: Configuration, own engine: any Transport, connection: ConnectionOptions? = nil) {
        self.engine = engine
        let builder = RequestBuilder(configuration, engine: connection ?? configuration.settings.connection)
        clock = configuration.clock
        let stopwatch = Stopwatch(configuration.clock)
        self.stopwatch = stopwatch
        let watching = configuration.accessories.compactMap { $0 as? any TransportLayer }
        let chosen = watching + configuration.layers
        let companions = chosen.flatMap(\.companions).filter { companion in
            !chosen.contains { type(of: $0) == type(of: companion) }
        }
        let layers = (chosen + companions).sorted { $0.position < $1.position }
        self.layers = layers
        hasLayers = !layers.isEmpty
        timeLeftOfTask = layers.reversed().lazy.compactMap(\.timeLeftOfTask).first
        observesAttempts = layers.contains { $0 is AttemptLayer }
        sendsAgain = layers.contains { $0.sendsAgain }
        let context = TransportLayerContext(stopwatch: stopwatch, connection: builder.engine)
        let transport = layers.reduce(engine) { $1.makeTransport(over: $0, of: context) }
        self.transport = transport
        coalescing = CoalescingTransport(transport, stopwatch: stopwatch)
        cacheBase = CacheBase(
            transport: transport, coalescing: coalescing, stopwatch: stopwatch,
            connection: builder.engine, cookies: configuration.cookies)
        let cache = configuration.cacheStorage?.makeCache(over: cacheBase)
        if let cache { _ = caching.storeIfNil(cache) }
        cachesByDefault = Atomic(!configuration.settings.cache.isOff)
        building = Mutex(builder)
        callbacks = configuration.callbackQueue ?? .serial()
        accessories = configuration.accessories
        observers = configuration.accessories.observers
        interceptors = configuration.interceptors
        reportsStops = configuration.reportsStops
        for layer in layers { layer.clientMade(self) }
    }

    /// The builder for requests that are built from now on.
    package var builder: RequestBuilder { building.withLock { $0 } }

    var redirects: RedirectPolicy { builder.settings.redirects }

    /// The connection options of requests that have none themselves.
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
            return life.machine.requestStarted(
                isAwaited: !RefreshScope.current.isEmpty || InterceptionScope.current.serves(self))
        }
    }

    func requestEnded(_ request: AnyRequest) {
        let (action, reference) = life.withLock { ($0.machine.requestEnded(), $0.requests.remove(request)) }
        reference?.release()
        perform(action)
    }
}

extension Client {
    /// The client's engine, which other clients may share; `nil`: the transport is not the engine.
    package var reactor: ReactorTransport? { ((engine as? BorrowedTransport)?.base ?? engine) as? ReactorTransport }

    /// The cookies of the client, or of all clients of its ``SharedEngine``; `nil` if ``Configuration/cookies`` is off or
    /// the transport is not the engine.
    public var cookies: CookieJar? {
        reactor?.cookies
    }

    /// Judges the addresses of this client's connections; `nil`: nothing judges them, or the transport is not the engine.
    package var addressFilter: (any AddressFilter)? {
        reactor?.addressFilter
    }

    /// The filter of commands that have a filter like `other`, with its counts; `nil`: no recent request had one, or the
    /// transport is not the engine.
    package func addressFilter(judgingAs other: any AddressFilter) -> (any AddressFilter)? {
        reactor?.addressFilter(judgingAs: other)
    }

    /// The counters of the client's engine; `nil` if the transport is not the engine, if the engine could not be started,
    /// and after the end of the engine. On a ``SharedEngine`` the numbers are those of all its clients, and the engine
    /// ends with the last of them. A read costs a few loads for each event loop, and takes no lock. Any thread.
    public var engineStatistics: EngineStatistics? {
        reactor?.statistics
    }
}
