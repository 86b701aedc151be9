import Synchronization

/// A request without the type of its command: what accessories, delegates and lists of requests see.
///
/// All of it may be used from any thread. A running request is kept alive by the transport; dropping one's own reference
/// does not stop it. It keeps its client alive.
///
/// `@unchecked Sendable`: `core` is a mutex, everything else here is constant. What ``Request`` adds is read and
/// written only while that mutex is held.
public class AnyRequest: TransferReceiver, @unchecked Sendable {
    /// Unique in the process.
    public let id: UInt64
    package let client: Client
    let core = Mutex(Core())

    /// What takes this request's transfers in place of the client's transport. Fixed, because the numbers of transfers are
    /// those of their carrier.
    package let ownCarrier: (any Transport)?
    /// What runs the children, where this is a group's request.
    package final let group: (any GroupCarrier)?
    /// `nil`: it is not cached. Fixed as `ownCarrier` is.
    let cachePolicy: CachePolicy?
    /// What this request does otherwise than its command says; `nil` for nothing.
    public final let overrides: RequestOverrides?
    /// Its only user is the task that runs it, which reads it after its end.
    final let isDirect: Bool
    /// The client's list of what runs; guarded by the client's lock.
    nonisolated(unsafe) var inList = RequestList.Links()

    struct Core: ~Copyable {
        var machine = RequestStateMachine()
        /// The present transfer's.
        var description: RequestDescription?
        /// What the run is built and judged by, whatever becomes of the client's settings; `nil` where nothing runs.
        var builder: RequestBuilder?
        /// The last result, whole or partial.
        var response: Response?
        /// Transfers before the present one: redirects and replays.
        package var earlier: [Attempt] = []
        /// The run decided to send again and did not come to it: what `description` says is in `earlier` already.
        var isReplayUnsent = false
        /// When `Timeouts.total` is up, by the client's stopwatch; counts over all transfers of a run.
        var deadline: Duration?
        /// Made where it is needed.
        package var hooks: Hooks?
        /// Those who were told of the start and must be told of the end.
        var told: [any Accessory] = []
        /// The `async` caller of a request that runs directly.
        var caller = Caller.busy

        mutating func madeHooks() -> Hooks {
            if let hooks { return hooks }
            let made = Hooks()
            hooks = made
            return made
        }
    }

    /// Who goes on by himself when a transfer ends. What he goes on with is kept here and not in his continuation, as his
    /// frame would have room for it for as long as he waits.
    enum Caller {
        case busy
        case waiting(UnsafeContinuation<Void, Never>)
        case resumed(TransferResult)
    }

    /// Apart because most requests have none of it. Guarded by `core`.
    final class Hooks {
        /// For the next run.
        var accessories: [any Accessory] = []
        weak var delegate: (any RequestDelegate)?
        var tag = 0
        var userInfo: [String: any Sendable] = [:]
        /// For the next run.
        var stream: ResponseStream?
        /// For the next run: in place of the policy's.
        var reading: CacheReading?
        /// For the next run.
        var onCached: [@Sendable (any Sendable, Response) -> Void] = []
        /// For the next run.
        var waiters: [RunWaiter] = []
        /// Of this run.
        package var run = RunHooks()
        /// Has sent the body of the last transfer that had a source, of this run or an earlier one.
        var lastPump: UploadPump?
    }

    /// What a run with interceptors or observers has besides; let go with the run.
    struct RunHooks {
        /// Who is told what happens in between.
        var observers: [any EventAccessory] = []
        var interceptors: [any Interceptor] = []
        var storage: InterceptionContext.Storage?
        /// What was built, before interceptors changed it: where a replay begins.
        package var built: RequestDescription?
        var replays = 0
        /// So many of `earlier` were before the last replay.
        var attemptsBeforeReplay = 0
        /// What runs asynchronously now.
        var work: Work?
        /// A preprocessor was told how the run ended, and is the only one that is.
        var isPreprocessed = false
        /// Where a streamed response goes.
        var stream: ResponseStream?
        /// What was read before the transfer's id was known.
        var owedCredit = 0
        /// The transfer is to be ended as soon as its id is known.
        var isCut = false
        /// Sends the present transfer's body.
        var pump: UploadPump?
        /// In place of the policy's.
        var reading: CacheReading?
        /// Told what was stored, before the network is asked.
        var onCached: [@Sendable (any Sendable, Response) -> Void] = []
        /// Tasks that wait for the end of this run.
        var waiters: [RunWaiter] = []
    }

    /// An asynchronous step.
    struct Work {
        let task: Task<Void, Never>
        /// Ends it when `Timeouts.total` is up.
        let timer: Task<Void, Never>?

        func cancel() {
            task.cancel()
            timer?.cancel()
        }
    }

    private static let lastID = Atomic<UInt64>(0)

    init(
        client: Client, callbacks: CallbackQueue, coordinator: GroupCoordinator?, options: CommandOptions,
        overrides: RequestOverrides?, cache: CachePolicy?, isDirect: Bool
    ) {
        self.client = client
        self.isDirect = isDirect
        let policy = coordinator == nil ? client.cachePolicy(overrides?.cache ?? cache) : nil
        cachePolicy = policy
        ownCarrier =
            coordinator?.carrier ?? policy?.kind.map { client.responseCache(madeBy: $0.makeCache).carrier }
            ?? ((overrides?.options ?? options).contains(.coalesced) ? client.coalescing : nil)
        group = coordinator.flatMap { $0.carrier as? any GroupCarrier }
        self.overrides = overrides
        id = Self.lastID.wrappingAdd(1, ordering: .relaxed).newValue
        super.init(callbacks: callbacks)
    }

    /// What the present run is built by.
    final var builder: RequestBuilder { core.withLock { $0.builder } ?? client.builder }

    /// Whether events come on another queue than the client's callback queue: nobody but a task waits for them, and users'
    /// code is called by way of the callback queue.
    final var isApart: Bool { callbacks !== client.callbacks }

    /// What takes this request's transfers.
    var carrier: any Transport { ownCarrier ?? client.transport }

    // MARK: What Request adds

    /// The command's description, made now.
    func describe(
        _ stream: ResponseStream?, by builder: RequestBuilder
    ) throws(ErrandError) -> RequestDescription { throw .internalFailure }

    /// What reads the responses of a run that was built by `builder` as JSON; `nil`: the decoder that all share.
    func responseDecoder(by builder: RequestBuilder) -> ResponseDecoder? { nil }

    /// Whether the present run is a group's.
    var isChild: Bool { false }

    /// Whose run that is which a group has started by this number. Called while `core` is locked.
    func place(ofChild number: UInt32) -> ChildPlace { .elsewhere }

    /// Whether it may be started once more.
    var isRestartable: Bool { true }

    /// The command's redirect policy, or the client's.
    var redirectPolicy: RedirectPolicy { client.redirects }

    /// The command's own.
    var commandInterceptors: [any Interceptor] { [] }

    /// For interceptors.
    var erasedCommand: any Command { RawCommand(url: "") }

    /// Judges the result of the last transfer, and tells everybody. `inPlace`: nothing of the command's waits, and it is
    /// the caller's own task that runs this. `isPlain`: nobody but the command has a say.
    func finish(_ result: TransferResult, by builder: RequestBuilder, inPlace: Bool, isPlain: Bool) -> Step {
        .finished
    }

    /// Tells everybody of a failure that nothing needs to look at.
    func conclude(_ error: ErrandError) {}

    /// Takes the value that the last run left. Called while `core` is locked.
    func takeValue() -> (any Sendable)? { nil }

    /// The value that the last run left. Called while `core` is locked.
    var lastValue: (any Sendable)? { nil }

    // MARK: News from the transport

    public override final func receive(_ event: TransferEvent.Kind) {
        guard case .ended(let result) = event else { return receiveOnTheWay(event) }
        let continuation: UnsafeContinuation<Void, Never>? = core.withLock { core in
            guard case .waiting(let continuation) = core.caller else { return nil }
            core.caller = .resumed(result)
            return continuation
        }
        if let continuation {
            continuation.resume()
        } else if isDirect {
            // A transport that told twice. The task alone takes this run further: a second one would send what it sends.
            return
        } else if case .submit(let description, let transfer) = advance(result, inPlace: false) {
            submit(description, transfer: transfer)
        }
    }

    private func receiveOnTheWay(_ event: TransferEvent.Kind) {
        let (stream, pump) = core.withLock { ($0.hooks?.run.stream, $0.hooks?.run.pump) }
        switch event {
        case .head(let head): stream?.head(head.read(by: responseDecoder(by: builder)), of: self)
        case .chunk(let chunk): stream?.chunk(chunk, of: self)
        case .uploadCredit(let bytes): pump?.credit(bytes)
        case .started, .sent, .progress, .ended: break
        }
        if let event = RequestEvent(event, of: core.withLock { $0.description }) { tell(event) }
    }
}
