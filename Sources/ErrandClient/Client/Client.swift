import Dispatch
import Synchronization

/// Runs commands: the object a program makes once per service and keeps.
///
/// ```swift
/// let client = Client(configuration: .init(baseURL: "http://127.0.0.1:8080"))
/// let user = try await client.run(GetUser(id: 1))
/// await client.shutdown(.drain(within: .seconds(5)))
/// ```
///
/// Any thread. Making one starts the engine's loop threads. A client lives while it is referred to, and while requests
/// of its run or are held; dropping the last reference stops the engine in the background. ``shutdown(_:)`` does so
/// with a word about what runs, and returns when everything is over.
public final class Client: Sendable {
    package let transport: any Transport
    /// The same, for requests that share transfers.
    let coalescing: CoalescingTransport
    /// Takes the transfers of cached requests; `nil` before the first of them.
    let caching: Mutex<(any ClientCache)?>
    /// Whether `caching` has a value.
    let hasCache: Atomic<Bool>
    package let cacheBase: CacheBase
    /// Whether requests are cached whose commands say nothing.
    let cachesByDefault: Atomic<Bool>
    /// The present one; it is exchanged by ``reconfigure(_:)``.
    let building: Mutex<RequestBuilder>
    /// Makes changes of the settings one after the other.
    let reconfiguring = Mutex(())
    package let callbacks: CallbackQueue
    /// Where `async` callers are resumed: a batch at a time, from a thread of the pool that runs them. Resumed by the
    /// loop thread itself, each would wake a pool thread, which on a busy machine takes the loop's CPU at once: one
    /// context switch per request, 4 to 8 us of it.
    let resumptions = CallbackQueue.dispatchQueue(.global())
    let accessories: [any Accessory]
    /// Those of `accessories` that want to know what happens in between.
    let observers: [any EventAccessory]
    package let interceptors: [any Interceptor]
    let reportsStops: Bool
    package let clock: any Clock<Duration>
    /// The same, its moments counted from the making of the client.
    package let stopwatch: Stopwatch
    let life = Mutex(Life())

    struct Life: ~Copyable {
        var machine = ClientStateMachine()
        var requests = RequestList()
        /// Who waits for the shutdown.
        var waiters: [@Sendable () -> Void] = []
        /// Who sleeps until then at the latest; see `sleep(for:)`.
        var sleeps: [UInt64: Task<Void, any Error>] = [:]
        var lastSleep: UInt64 = 0
    }

    /// Makes a client with an engine of its own. An engine that cannot be started fails every request with the reason,
    /// ``ErrandError/unsupportedLibrary`` or ``ErrandError/systemFailure`` as a rule.
    public convenience init(configuration: Configuration = Configuration()) {
        self.init(configuration, own: ReactorTransport(configuration))
    }

    /// Makes a client on a transport of the caller's: a stub, or one that several clients share. The engine's settings in
    /// the configuration are of no effect then.
    ///
    /// The transport stays the caller's. ``shutdown(_:)`` ends this client's requests, and leaves the transport running
    /// for others; whoever has made it shuts it down, by ``Transport/shutdown(_:)``, when nobody needs it any more.
    public convenience init(configuration: Configuration = Configuration(), transport: any Transport) {
        self.init(configuration, own: BorrowedTransport(transport))
    }

    /// `transport`: nobody else's, as ``shutdown(_:)`` shuts it down.
    init(_ configuration: Configuration, own transport: any Transport) {
        self.transport = transport
        clock = configuration.clock
        let stopwatch = Stopwatch(configuration.clock)
        self.stopwatch = stopwatch
        coalescing = CoalescingTransport(transport, stopwatch: stopwatch)
        cacheBase = CacheBase(
            transport: transport, coalescing: coalescing, stopwatch: stopwatch,
            connection: configuration.settings.connection, cookies: configuration.cookies)
        let cache = configuration.cacheStorage?.makeCache(over: cacheBase)
        hasCache = Atomic(cache != nil)
        caching = Mutex(cache)
        cachesByDefault = Atomic(!configuration.settings.cache.isOff)
        building = Mutex(RequestBuilder(configuration))
        callbacks = configuration.callbackQueue ?? .serial()
        accessories = configuration.accessories
        observers = configuration.accessories.compactMap { $0 as? any EventAccessory }
        interceptors = configuration.interceptors
        reportsStops = configuration.reportsStops
    }

    /// What requests are built by from now on.
    package var builder: RequestBuilder { building.withLock { $0 } }

    var redirects: RedirectPolicy { builder.settings.redirects }

    /// What requests without options of their own go by.
    package var connection: ConnectionOptions { builder.engine }

    /// A request for `command`, not started yet: for accessories and a delegate of its own.
    public func request<C: Command>(_ command: C, overrides: RequestOverrides? = nil) -> Request<C> {
        Request(client: self, command: command, callbacks: callbacks, overrides: overrides)
    }

    /// What `command` would send, without sending it. Throws what a start would fail with.
    public func describe(
        _ command: some Command, overrides: RequestOverrides? = nil
    ) throws(ErrandError) -> RequestDescription {
        do throws(ErrandError) {
            if command.givenCoordinator?.carrier is any GroupCarrier {
                throw .invalidArgument.with(message: "a group sends nothing by itself")
            }
            return try builder.description(of: command, overrides: overrides)
        } catch {
            throw error.refused
        }
    }

    /// The requests that run, newest first. Among them are those that a task waits for (``run(_:overrides:)``,
    /// ``stream(_:overrides:)``): a delegate that is set on one is told on the callback queue as everywhere, perhaps after
    /// the task has gone on.
    public var requests: [AnyRequest] {
        life.withLock { $0.requests.all }
    }

    /// Stops every request that runs; see ``AnyRequest/stop()``. Later ones may be started all the same (YTKNetwork
    /// `cancelAllRequests`).
    public func cancelAll() {
        // Oldest first, so groups before their children: a child that is stopped by itself would fail its group.
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
