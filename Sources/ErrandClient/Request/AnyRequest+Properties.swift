import Synchronization

extension AnyRequest {
    /// The present state.
    public final var state: RequestState {
        core.withLock { RequestState($0.machine.state) }
    }

    /// The last response: complete, or the part received before an error; `nil` while there is none.
    public final var response: Response? {
        core.withLock { $0.response }
    }

    /// Why the request failed; ``ErrandError/cancelled`` if it was stopped; `nil` while it runs and after a success.
    public final var error: ErrandError? {
        core.withLock { core in
            guard let outcome = core.machine.outcome else { return nil }
            return switch outcome {
            case .succeeded: nil
            case .failed(let error): error
            case .cancelled: .cancelled
            }
        }
    }

    /// Whether no transfer of the present run has ended yet.
    package final var isFirstTransfer: Bool { core.withLock { $0.earlier.isEmpty } }

    /// The first URL of the present run: before redirects, and before interceptors, whose signatures may be new each
    /// time.
    package final var firstURL: String? {
        core.withLock { $0.hooks?.run.built?.url ?? $0.earlier.first?.url }
    }

    package final var isDownload: Bool { (ownCarrier as? any RequestCarrier)?.isDownload == true }

    /// Whether the response came from a cache and not from the network; for a group, whether the responses of all
    /// children did. A stored response that the server has confirmed (304) counts as a response from the network
    /// (YTKNetwork `isDataFromCache`).
    public final var isFromCache: Bool {
        if let group { return group.isFromCache }
        guard cachePolicy != nil else { return false }
        let (plan, isOver) = core.withLock { ($0.description?.cachePlan, $0.machine.outcome != nil) }
        return isOver && plan.map { $0.source != .network } ?? false
    }

    /// The URL of the present or last transfer, after redirects; `nil` before the first start, and if the URL could not
    /// be built.
    public final var url: String? {
        group == nil ? core.withLock { $0.description?.url } : nil
    }

    /// The description of the present or last transfer: what it sends.
    public final var transferDescription: RequestDescription? {
        group == nil ? core.withLock { $0.description } : nil
    }

    /// The metrics of the last transfer, complete or failed; `nil` while there are none.
    public final var metrics: TransferMetrics? {
        group == nil ? response?.metrics ?? error?.metrics : nil
    }

    /// The transfers of this run that have ended, one per hop.
    public final var attempts: [Attempt] {
        guard group == nil else { return [] }
        return core.withLock { core in
            guard let outcome = core.machine.outcome, let url = core.description?.url,
                !core.isUnsent
            else { return core.earlier }
            var error: ErrandError?
            if case .failed(let failure) = outcome { error = failure }
            let last = Attempt(number: core.earlier.count + 1, url: url, response: core.response, error: error)
            return core.earlier + [last]
        }
    }

    /// The sends of this run after the first one, each with its reason, in order: redirects, replays, retries, hedges, and
    /// resends by libcurl itself. A retry that was decided and then refused by a breaker or a limit, or not sent for
    /// another reason, is not included. Empty for a group: its children have their own.
    public final var resends: [Resend] { core.withLock { $0.resends } }

    /// Whether the present run was stopped.
    package final var isStopped: Bool { core.withLock { $0.machine.isStopped } }

    /// Whether the request is not running.
    package final var isAtRest: Bool { core.withLock { $0.machine.isAtRest } }

    /// Adds an accessory for this request's next run. It is released when that run is over; a request that is started
    /// again needs it added again.
    public final func addAccessory(_ accessory: any Accessory) {
        core.withLock { core in
            core.madeHooks().accessories.append(accessory)
        }
    }

    /// A number for the user, to tell requests apart. Default: 0. Kept over restarts.
    public final var tag: Int {
        get { core.withLock { $0.hooks?.tag ?? 0 } }
        set { core.withLock { $0.madeHooks().tag = newValue } }
    }

    /// Values that the user keeps with the request. Kept over restarts.
    public final var userInfo: [String: any Sendable] {
        get { core.withLock { $0.hooks?.userInfo ?? [:] } }
        set {
            let replaced = core.withLock { core in
                let hooks = core.madeHooks()
                let replaced = hooks.userInfo
                hooks.userInfo = newValue
                return replaced
            }
            // The old values are released here, not under the lock: their `deinit` may be the user's.
            _ = replaced
        }
    }

    /// Calls `observe` with the progress of this request's next run, on the callback queue: at most ten times a second
    /// and once more at the end of each transfer. No number decreases within the run. The body of a redirect does not
    /// count; the body of a response that is requested again (``Interceptor``) does (AFNetworking's upload and download
    /// progress blocks).
    public final func onProgress(_ observe: @escaping @Sendable (TransferProgress) -> Void) {
        addAccessory(ProgressObserver(observe))
    }

    /// The delegate; it gets the end of the request before the closures do. Kept weakly.
    public final var delegate: (any RequestDelegate)? {
        get {
            core.withLock { $0.hooks?.delegate }
        }
        set {
            core.withLock { core in
                core.madeHooks().delegate = newValue
            }
        }
    }
}
