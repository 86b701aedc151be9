import Synchronization

/// One command on its way through a client. Made by ``Client/start(_:overrides:success:failure:)`` or
/// ``Client/request(_:overrides:)``.
///
/// `@unchecked Sendable`: `storedValue` and `ending` are read and written only inside `core.withLock`.
public final class Request<C: Command>: AnyRequest, @unchecked Sendable {
    /// What it asks for.
    public let command: C
    // Read and written only inside `core.withLock`.
    nonisolated(unsafe) var storedValue: C.Response?
    // As `storedValue`.
    private nonisolated(unsafe) var ending = Ending.none
    /// Tells the group that this request is a child of.
    private nonisolated(unsafe) var parent: (@Sendable (Result<C.Response, ErrandError>) -> Void)?

    /// Who is told in the end, besides accessories and delegate. Taken out before it is called, so that a request may be
    /// started again from its own callback.
    enum Ending {
        case none
        case closures(success: (@Sendable (Request<C>) -> Void)?, failure: (@Sendable (Request<C>) -> Void)?)
        /// `evenStopped`: also where the request was stopped, whatever the configuration says.
        case completion(@Sendable (Request<C>) -> Void, evenStopped: Bool)
    }

    init(client: Client, command: C, callbacks: CallbackQueue, overrides: RequestOverrides? = nil) {
        self.command = command
        super.init(
            client: client, callbacks: callbacks, coordinator: command.coordinator, options: command.options,
            overrides: overrides, cache: command.cache)
    }

    /// What the command made of the response; `nil` until it succeeded.
    public var value: C.Response? {
        core.withLock { _ in storedValue }
    }

    /// Value or error; `nil` until it is over.
    public var result: Result<C.Response, ErrandError>? {
        core.withLock { core in
            guard let outcome = core.machine.outcome else { return nil }
            switch outcome {
            case .succeeded: return storedValue.map { .success($0) }
            case .failed(let error): return .failure(error)
            case .cancelled: return .failure(.cancelled)
            }
        }
    }

    /// ``AnyRequest/start()`` with closures, which run on the callback queue and are released when the run is over. They
    /// are not kept where this returns false.
    @discardableResult
    public func start(
        success: (@Sendable (Request<C>) -> Void)?, failure: (@Sendable (Request<C>) -> Void)? = nil
    ) -> Bool {
        start(installing: { _ in ending = .closures(success: success, failure: failure) })
    }

    /// ``AnyRequest/start()`` with one closure for both ends.
    @discardableResult
    public func start(completion: @escaping @Sendable (Request<C>) -> Void) -> Bool {
        start(installing: { _ in ending = .completion(completion, evenStopped: false) })
    }

    /// Closures for the next run, for requests that somebody else starts: a group. As those of
    /// ``start(success:failure:)``, which replace them. Does nothing while the request runs (YTKNetwork
    /// `setCompletionBlockWithSuccess:failure:`).
    public func whenDone(
        success: (@Sendable (Request<C>) -> Void)?, failure: (@Sendable (Request<C>) -> Void)? = nil
    ) {
        var replaced = Ending.closures(success: success, failure: failure)
        core.withLock { core in
            if core.machine.isAtRest { swap(&ending, &replaced) }
        }
        // What it replaces dies here, not under the lock.
        _ = replaced
    }

    /// A start for a group, which is told last, and once, how this run ended.
    func start(asChild told: @escaping @Sendable (Result<C.Response, ErrandError>) -> Void) -> Bool {
        start(installing: { _ in parent = told })
    }

    /// The first half of a start.
    func begin(
        evenStopped: Bool, completion: @escaping @Sendable (Request<C>) -> Void
    ) -> RequestStateMachine.StartAction {
        begin(installing: { _ in ending = .completion(completion, evenStopped: evenStopped) })
    }

    // MARK: AnyRequest

    override func describe(
        _ stream: ResponseStream?, by builder: RequestBuilder
    ) throws(ErrandError) -> RequestDescription {
        if group != nil, stream != nil {
            throw .invalidArgument.with(message: "a group has no body that could be streamed")
        }
        if group != nil { return try builder.description(ofGroup: command, overrides: overrides) }
        if let stream { return try builder.description(of: stream.command, overrides: overrides) }
        return try builder.description(of: command, overrides: overrides)
    }

    override var responseDecoder: ResponseDecoder? {
        if let decoder = overrides?.jsonDecoder { return .override(decoder) }
        let own = command.jsonDecoder
        if own !== SharedCoders.jsonDecoder { return .inherited(own) }
        return builder.settings.jsonDecoder.map { .inherited($0) }
    }

    override var isChild: Bool { core.withLock { _ in parent != nil } }

    /// A streamed response has had its caller, and its request nobody to stream to.
    override var isRestartable: Bool { !(command is any StreamedCommand) }

    override var redirectPolicy: RedirectPolicy {
        overrides?.redirects ?? command.redirects ?? client.redirects
    }

    override func takeValue() -> (any Sendable)? {
        storedValue.take()
    }

    override var commandInterceptors: [any Interceptor] {
        guard let overrides, !overrides.interceptors.isEmpty else { return command.interceptors }
        return command.interceptors + overrides.interceptors
    }

    override var erasedCommand: any Command {
        core.withLock { $0.hooks?.run.stream }?.command ?? command
    }

    override func finish(_ result: TransferResult, inPlace: Bool) -> Step {
        guard !inPlace else { return settle(judge(result)) }
        let (stream, isIntercepted) = core.withLock { core -> (ResponseStream?, Bool) in
            guard let run = core.hooks?.run else { return (nil, false) }
            return (run.stream, !run.interceptors.isEmpty)
        }
        let isTruncated = stream?.isTruncated == true
        guard isIntercepted || mayWait(result) else {
            let verdict = judge(result)
            return settle(isTruncated ? verdict.onTruncatedBody : verdict)
        }
        let chain = if let stream { stream.interception(interception()) } else { interception() }
        work(.processing(result.response), otherwise: { conclude(.failure(.cancelled)) }) { [self] step in
            switch await process(result, by: chain, in: step) {
            case .replay: return { [self] in replay(after: result) }
            case .verdict(let verdict):
                return { [self] in
                    let verdict = isTruncated ? verdict.onTruncatedBody : verdict
                    if case .submit(let next, let transfer) = settle(verdict) { submit(next, transfer: transfer) }
                }
            }
        }
        return .finished
    }

    /// Ends the run, but where a cache's response was not the last word.
    private func settle(_ verdict: Verdict) -> Step {
        if let next = goingPastCache(verdict) { return next }
        conclude(verdict)
        return .finished
    }

    override func conclude(_ error: ErrandError) {
        // After a stop and a shutdown nothing is waited for.
        guard error != .cancelled, error != .shutDown, let preprocess = command.failurePreprocessor else {
            return conclude(.failure(error))
        }
        work(.ending, otherwise: { conclude(.failure(.cancelled)) }) { [self] step in
            if step.isWanted { await preprocess(error) }
            return { [self] in conclude(.failure(error)) }
        }
    }

    func conclude(_ verdict: Verdict) {
        let told = core.withLock { core in
            core.machine.processed()
            return core.told
        }
        tell(told) { $0.requestWillStop($1) }

        // Not as one tuple, whose type would be looked up at run time, as that of `ending` depends on the command's.
        var ending = Ending.none
        var delegate: (any RequestDelegate)?
        var run: RunHooks?
        // As the others: not to die under the lock.
        var builder: RequestBuilder?
        var parent: (@Sendable (Result<C.Response, ErrandError>) -> Void)?
        let outcome = core.withLock { core in
            let outcome: RequestStateMachine.Outcome
            switch verdict {
            case .success(let value, let response):
                outcome = core.machine.concluded(.succeeded)
                core.response = group == nil ? response : nil
                if outcome == .succeeded { storedValue = value }
            case .failure(let error):
                outcome = core.machine.concluded(.failed(error))
                core.response = group == nil ? error.response : nil
            }
            swap(&ending, &self.ending)
            swap(&builder, &core.builder)
            if self.parent != nil { swap(&parent, &self.parent) }
            if !core.told.isEmpty { core.told = [] }
            if let hooks = core.hooks {
                delegate = hooks.delegate
                run = hooks.run
                hooks.run = RunHooks()
            }
            return outcome
        }
        if cachePolicy != nil { keepOrDrop(outcome) }
        run?.stream?.end(verdict.response(outcome), of: self)
        tell(outcome, ending, delegate)
        tell(told) { $0.requestDidStop($1) }
        // A run that begins here is counted before this one is let go: a drain waits for it.
        endTelling()
        client.requestEnded(self)
        parent?(verdict.result(outcome))
    }

    private func tell(_ outcome: RequestStateMachine.Outcome, _ ending: Ending, _ delegate: (any RequestDelegate)?) {
        // What was called before may have stopped the request, on this queue, since the outcome was decided.
        var isSilenced: Bool { !client.reportsStops && core.withLock { $0.machine.isSilenced } }
        switch outcome {
        case .succeeded:
            if let filter = command.successFilter {
                filter(self)
                if isSilenced { break }
            }
            delegate?.requestFinished(self)
        case .failed:
            if let filter = command.failureFilter {
                filter(self)
                if isSilenced { break }
            }
            delegate?.requestFailed(self)
        case .cancelled:
            if client.reportsStops { delegate?.requestFailed(self) }
        }
        switch ending {
        case .none:
            break
        case .closures(let success, let failure):
            if isSilenced { break }
            switch outcome {
            case .succeeded: success?(self)
            case .failed: failure?(self)
            case .cancelled: if client.reportsStops { failure?(self) }
            }
        case .completion(let completion, let evenStopped):
            let isSilent = (outcome == .cancelled && !client.reportsStops) || isSilenced
            if !isSilent || evenStopped { completion(self) }
        }
    }
}
