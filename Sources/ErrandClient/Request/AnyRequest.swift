import Synchronization

/// A request without the type of its command, as accessories, delegates and lists of requests see it.
///
/// All members may be used from any thread. The transport keeps a running request alive: releasing your own reference
/// does not stop the request. A request keeps its client alive.
///
/// `@unchecked Sendable`: `core` is a mutex, everything else here is constant. What ``Request`` adds is read and
/// written only while that mutex is held.
public class AnyRequest: TransferReceiver, @unchecked Sendable {
    /// An identifier, unique in the process.
    public let id: UInt64
    package let client: Client
    let core = Mutex(Core())

    /// The transport that takes this request's transfers instead of the client's transport. Fixed, because transfer ids
    /// belong to the transport that issued them.
    package let ownCarrier: (any Transport)?
    /// Runs the children if this is a group's request.
    package final let group: (any GroupCarrier)?
    /// `nil`: the request is not cached. Fixed, as `ownCarrier` is.
    let cachePolicy: CachePolicy?
    /// The settings of this request that replace those of its command; `nil` for none.
    public final let overrides: RequestOverrides?
    /// Whether only one task uses this request: the task that runs it and reads the result.
    final let isDirect: Bool
    /// The links of the client's list of running requests; guarded by the client's lock.
    nonisolated(unsafe) var inList = RequestList.Links()

    struct Core: ~Copyable {
        var machine = RequestStateMachine()
        /// The description of the present transfer.
        var description: RequestDescription?
        /// The builder that the run is built and judged by, even if the client's settings change meanwhile; `nil` if
        /// nothing runs.
        var builder: RequestBuilder?
        /// The last response, complete or partial.
        var response: Response?
        /// The transfers before the present one: redirects and replays.
        package var earlier: [Attempt] = []
        /// The sends of this run after the first one.
        var resends: [Resend] = []
        /// The services that transfers before the present one were sent to (``RequestDescription/service``).
        var services: [String] = []
        /// Nothing of the present transfer was sent.
        var wasRefused = false
        /// The transfer that `description` describes is in `earlier` already, or was never sent: a replay was decided but
        /// not sent yet, or an interceptor has answered.
        var isUnsent = false
        /// When `Timeouts.total` expires, by the client's stopwatch. It covers all transfers of a run.
        var deadline: Duration?
        /// Made on first use.
        package var hooks: Hooks?
        /// The accessories that were called at the start and must be called at the end.
        var notified: [any Accessory] = []
        /// The `async` caller of a request that runs directly.
        var caller = Caller.busy

        /// Whether the transfer is to be handed to the transport: false after a stop.
        mutating func claimTransfer(_ transfer: Int) -> Bool {
            if let hooks { hooks.run.dropPendingCredit() }
            guard machine.maySubmit(transfer: transfer) else { return false }
            isUnsent = false
            return true
        }

        mutating func madeHooks() -> Hooks {
            if let hooks { return hooks }
            let made = Hooks()
            hooks = made
            return made
        }
    }

    /// The state of the async caller that waits for the end of a transfer. The result is kept here and not in its
    /// continuation, because the caller's frame would reserve room for the result for as long as it waits.
    enum Caller {
        case busy
        case waiting(UnsafeContinuation<Void, Never>)
        case resumed(TransferResult)
    }

    /// Kept in a separate object because most requests have none of it. Guarded by `core`.
    final class Hooks {
        /// Accessories for the next run.
        var accessories: [any Accessory] = []
        weak var delegate: (any RequestDelegate)?
        var tag = 0
        var userInfo: [String: any Sendable] = [:]
        /// The stream for the next run.
        var stream: ResponseStream?
        /// For the next run: replaces the policy's reading mode.
        var reading: CacheReading?
        /// Closures for the next run.
        var onCached: [@Sendable (any Sendable, Response) -> Void] = []
        /// Tasks that wait for the next run.
        var waiters: [RunWaiter] = []
        /// The hooks of this run.
        package var run = RunHooks()
        /// The pump that sent the body of the last transfer with a body source, in this run or an earlier one.
        var lastPump: UploadPump?
    }

    /// Additional state of a run with interceptors or observers; released with the run.
    struct RunHooks {
        /// The accessories that observe events.
        var observers: [any EventAccessory] = []
        var interceptors: [any Interceptor] = []
        /// The places of interceptors that are left out: see ``InterceptionScope``.
        var skipped: Set<Int> = []
        var storage: InterceptionContext.Storage?
        /// The built description before interceptors changed it.
        package var built: RequestDescription?
        /// The interceptors of the present transfers, until they have ended.
        var interception: Interception?
        /// The call of the innermost `next` that the present transfer was sent for.
        var call = 0
        /// Whether that call does not wait for the transfer any more.
        var isGivenUp = false
        /// Until when interceptors may answer after a transfer that has used up the total time.
        var answerDeadline: Duration?
        /// The number of `earlier` transfers before the last replay.
        var attemptsBeforeReplay = 0
        /// The asynchronous step that runs now.
        var work: Work?
        /// A preprocessor was called for the end of the run. No other preprocessor is called.
        var isPreprocessed = false
        /// Receives a streamed response.
        var stream: ResponseStream?
        /// Credit for bytes that were read before the transfer's id was known.
        var pendingCredit = 0
        /// Whether the transfer is to be cancelled as soon as its id is known.
        var isCut = false
        /// Sends the body of the present transfer.
        var pump: UploadPump?
        /// Replaces the policy's reading mode.
        var reading: CacheReading?
        /// Called with the stored value, before the network is asked.
        var onCached: [@Sendable (any Sendable, Response) -> Void] = []
        /// Tasks that wait for the end of this run.
        var waiters: [RunWaiter] = []
        /// The scope through which observers of attempts get the end of the run; see ``AnyRequest/observe(_:keepsScope:)``.
        var scope: AttemptScope?
    }

    /// A running asynchronous step.
    struct Work {
        let task: Task<Void, Never>
        /// Ends the step when `Timeouts.total` expires.
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
        allowWatching()
    }

    /// The builder of the present run.
    final var builder: RequestBuilder { core.withLock { $0.builder } ?? client.builder }

    /// Whether events arrive on another queue than the client's callback queue. Then only a task waits for them, and
    /// users' code is called through the callback queue.
    final var isApart: Bool { callbacks !== client.callbacks }

    /// The transport that takes this request's transfers.
    var carrier: any Transport { ownCarrier ?? client.transport }

    // MARK: What Request adds

    /// Makes the command's description now.
    func describe(
        _ stream: ResponseStream?, by builder: RequestBuilder
    ) throws(ErrandError) -> RequestDescription { throw .internalFailure }

    /// The JSON decoder for the responses of a run that was built by `builder`; `nil`: the shared decoder.
    func responseDecoder(by builder: RequestBuilder) -> ResponseDecoder? { nil }

    /// Whether the present run belongs to a group.
    var isChild: Bool { false }

    /// The place of the run that a group started with this number. Called while `core` is locked.
    func place(ofChild number: UInt32) -> ChildPlace { .elsewhere }

    /// Whether the request may be started once more.
    var isRestartable: Bool { true }

    /// The command's redirect policy, or the client's.
    var redirectPolicy: RedirectPolicy { client.redirects }

    /// The interceptors of the command and of the overrides.
    var commandInterceptors: [any Interceptor] { [] }

    /// The command, for interceptors.
    var erasedCommand: any Command { RawCommand(url: "") }

    /// Judges the result of the last transfer and calls the callbacks. `inPlace`: this runs in the caller's own task,
    /// and no code of the command waits. `isPlain`: only the command decides about the result.
    func finish(_ result: TransferResult, by builder: RequestBuilder, inPlace: Bool, isPlain: Bool) -> Step {
        .finished
    }

    /// Ends the run with a failure that needs no judging, and calls the callbacks.
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
            // The transport reported the end twice. Only the task continues a direct run; continuing it here would send
            // the next transfer a second time.
            return
        } else if case .submit(let description, let transfer) = advance(result, inPlace: false) {
            // The request's deadline is a part of its total time. The present task may be that of another request.
            TaskDeadlines.without { submit(description, transfer: transfer) }
        }
    }

    private func receiveOnTheWay(_ event: TransferEvent.Kind) {
        let (stream, pump) = core.withLock { ($0.hooks?.run.stream, $0.hooks?.run.pump) }
        switch event {
        case .head(let head): stream?.head(head.read(by: responseDecoder(by: builder)), of: self)
        case .chunk(let chunk): stream?.chunk(chunk, of: self)
        case .uploadCredit(let bytes): pump?.credit(bytes)
        case .retrying(let retry): if pump != nil { restartPump(after: retry.attempt) }
        case .resending(let reason): core.withLock { $0.resends.append(reason) }
        case .notResent(let reason):
            core.withLock { core in
                guard let place = core.resends.lastIndex(of: reason) else { return }
                core.resends.remove(at: place)
            }
        case .started, .connected, .sent, .progress, .decided, .ended: break
        }
        if let event = RequestEvent(event, of: core.withLock { $0.description }) { notify(event) }
    }
}

extension AnyRequest: WatchableReceiver {
    package final var submittedDescription: RequestDescription? { core.withLock { $0.description } }

    package final func transferContinues(as id: TransferID) {
        let (action, isGivenUp) = core.withLock { core in
            (core.machine.transferContinues(as: id), core.hooks?.run.isGivenUp == true)
        }
        perform(action)
        if isGivenUp { carrier.cancel(id) }
    }
}
