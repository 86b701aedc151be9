import Synchronization

/// One command on its way through a client. Made by ``Client/start(_:overrides:completion:success:failure:)`` or
/// ``Client/request(_:overrides:)``.
///
/// The price of a request shapes this class: a type that depends on the command's is looked up at run time wherever a
/// variable or an enum of it is used, some 300 instructions each time. So a verdict holds no value, the value is kept
/// without its type, and closures are kept one by one.
///
/// `@unchecked Sendable`: what it adds is read and written only inside `core.withLock`.
public final class Request<C: Command>: AnyRequest, @unchecked Sendable {
    /// What it asks for.
    public let command: C
    /// What was made of the response, a `C.Response`; users see it once the run has succeeded (``value``).
    // Read and written only inside `core.withLock`, which makes a second look at each access needless.
    @exclusivity(unchecked) nonisolated(unsafe) var storedValue: (any Sendable)?
    /// Whether `storedValue` has one that was not told yet.
    // As `storedValue`.
    @exclusivity(unchecked) nonisolated(unsafe) var hasUntoldValue = false
    /// The group's number of the run that is being told; 0 for none.
    // As `storedValue`.
    @exclusivity(unchecked) private nonisolated(unsafe) var toldChild: UInt32 = 0
    // Who is told in the end, besides accessories and delegate. Taken out before it is called, so that a request may be
    // started again from its own callback. As `storedValue`.
    @exclusivity(unchecked) private nonisolated(unsafe) var success: (@Sendable (Request<C>) -> Void)?
    // As `success`.
    @exclusivity(unchecked) private nonisolated(unsafe) var failure: (@Sendable (Request<C>) -> Void)?
    /// Whether they are told of a stop too, whatever the configuration says.
    // As `storedValue`.
    @exclusivity(unchecked) private nonisolated(unsafe) var isToldEvenStopped = false
    /// The group's number of the run that `parent` is told of; 0 for none.
    // As `storedValue`.
    @exclusivity(unchecked) private nonisolated(unsafe) var child: UInt32 = 0
    /// Tells the group that this request is a child of.
    // As `storedValue`.
    @exclusivity(unchecked)
    private nonisolated(unsafe) var parent: (@Sendable (Result<C.Response, ErrandError>) -> Void)?

    package init(
        client: Client, command: C, callbacks: CallbackQueue, overrides: RequestOverrides? = nil, isDirect: Bool = false
    ) {
        self.command = command
        super.init(
            client: client, callbacks: callbacks, coordinator: command.givenCoordinator, options: command.givenOptions,
            overrides: overrides, cache: command.givenCache, isDirect: isDirect)
    }

    /// What the command made of the response; `nil` until it succeeded.
    public var value: C.Response? {
        core.withLock { $0.machine.hasSucceeded ? storedValue : nil }.flatMap { typed($0) }
    }

    /// What was stored as a value of this request, as what it is.
    func typed(_ stored: some Sendable) -> C.Response? {
        try? exactly(stored)
    }

    /// The same; not as an optional, whose type would be looked up at run time.
    func exactly(_ stored: some Sendable) throws(ErrandError) -> C.Response {
        // A dynamic cast would take some hundred instructions to find this out. With the same type it is the same bits.
        if type(of: stored) == C.Response.self { return unsafeBitCast(stored, to: C.Response.self) }
        guard let value = stored as? C.Response else { throw .internalFailure }
        return value
    }

    /// Value or error; `nil` until it is over.
    public var result: Result<C.Response, ErrandError>? {
        let (ended, stored) = core.withLock { ($0.machine.outcome, storedValue) }
        switch ended {
        case .succeeded: return stored.flatMap { typed($0) }.map { .success($0) }
        case .failed(let error): return .failure(error)
        case .cancelled: return .failure(.cancelled)
        case nil: return nil
        }
    }

    /// ``AnyRequest/start()`` with closures: `completion` is told of any end, `success` or `failure` before it of one of them.
    /// They run on the callback queue and are released when the run is over. They are not kept where this returns false. A
    /// trailing closure without a label is the completion.
    @discardableResult
    public func start(
        completion: (@Sendable (Request<C>) -> Void)? = nil, success: (@Sendable (Request<C>) -> Void)? = nil,
        failure: (@Sendable (Request<C>) -> Void)? = nil
    ) -> Bool {
        // What they replace dies here, not under the lock.
        var success = Self.joined(success, completion)
        var failure = Self.joined(failure, completion)
        return startRun(installing: { _ in install(&success, &failure) })
    }

    /// Closures for the next run, for requests that somebody else starts: a group. As those of
    /// ``start(completion:success:failure:)``, which replace them. Does nothing while the request runs (YTKNetwork
    /// `setCompletionBlockWithSuccess:failure:`).
    public func whenDone(
        completion: (@Sendable (Request<C>) -> Void)? = nil, success: (@Sendable (Request<C>) -> Void)? = nil,
        failure: (@Sendable (Request<C>) -> Void)? = nil
    ) {
        // What they replace dies here, not under the lock.
        var success = Self.joined(success, completion)
        var failure = Self.joined(failure, completion)
        core.withLock { core in
            guard core.machine.isAtRest else { return }
            install(&success, &failure)
        }
    }

    /// `first`, then `then`.
    private static func joined(
        _ first: (@Sendable (Request<C>) -> Void)?, _ then: (@Sendable (Request<C>) -> Void)?
    ) -> (@Sendable (Request<C>) -> Void)? {
        guard let first else { return then }
        guard let then else { return first }
        return { request in
            first(request)
            then(request)
        }
    }

    /// Leaves in their place what was there.
    private func install(
        _ success: inout (@Sendable (Request<C>) -> Void)?, _ failure: inout (@Sendable (Request<C>) -> Void)?,
        evenStopped: Bool = false
    ) {
        // Neither by `swap` nor as a tuple: see `conclude`.
        let replacedSuccess = self.success
        let replacedFailure = self.failure
        self.success = success
        self.failure = failure
        success = replacedSuccess
        failure = replacedFailure
        isToldEvenStopped = evenStopped
    }

    /// A start for a group, which is told last, and once, how this run ended, and knows it by `number`.
    package func start(
        asChild number: UInt32, _ told: @escaping @Sendable (Result<C.Response, ErrandError>) -> Void
    ) -> Bool {
        startRun(installing: { _ in
            parent = told
            child = number
        })
    }

    /// The first half of a start.
    package func begin(
        evenStopped: Bool, completion: @escaping @Sendable (Request<C>) -> Void
    ) -> RequestStateMachine.StartAction {
        var success: (@Sendable (Request<C>) -> Void)? = completion
        var failure = success
        return begin(installing: { _ in install(&success, &failure, evenStopped: evenStopped) })
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

    package override func responseDecoder(by builder: RequestBuilder) -> ResponseDecoder? {
        if let decoder = overrides?.jsonDecoder { return ResponseDecoder(decoder: decoder, isOverride: true) }
        let own = command.givenJSONDecoder
        if own !== SharedCoders.jsonDecoder { return ResponseDecoder(decoder: own, isOverride: false) }
        return builder.settings.jsonDecoder.map { ResponseDecoder(decoder: $0, isOverride: false) }
    }

    override var isChild: Bool { core.withLock { _ in parent != nil } }

    override func place(ofChild number: UInt32) -> ChildPlace {
        if child == number { return .present }
        return toldChild == number ? .told : .elsewhere
    }

    /// A streamed response has had its caller, and its request nobody to stream to; the same of values that a task reads.
    override var isRestartable: Bool { !isApart && !(command is any StreamedCommand) }

    override var redirectPolicy: RedirectPolicy {
        overrides?.redirects ?? command.givenRedirects ?? client.redirects
    }

    override func takeValue() -> (any Sendable)? {
        hasUntoldValue = false
        return storedValue.take()
    }

    override var lastValue: (any Sendable)? { storedValue }

    override var commandInterceptors: [any Interceptor] {
        guard let overrides, !overrides.interceptors.isEmpty else { return command.givenInterceptors }
        return command.givenInterceptors + overrides.interceptors
    }

    override var erasedCommand: any Command {
        core.withLock { $0.hooks?.run.stream }?.command ?? command
    }

    override func finish(_ result: TransferResult, by builder: RequestBuilder, inPlace: Bool, isPlain: Bool) -> Step {
        if inPlace || (isPlain && !mayWait(result)) { return settle(judge(result, by: builder)) }
        let (stream, isIntercepted) = core.withLock { core -> (ResponseStream?, Bool) in
            guard let run = core.hooks?.run else { return (nil, false) }
            return (run.stream, !run.interceptors.isEmpty)
        }
        let isTruncated = stream?.isTruncated == true
        guard isIntercepted || mayWait(result) else {
            let verdict = judge(result, by: builder)
            return settle(isTruncated ? verdict.onTruncatedBody : verdict)
        }
        let chain = if let stream { stream.interception(interception()) } else { interception() }
        work(.processing(result.response), otherwise: { conclude(.failure(.cancelled)) }) { [self] step in
            switch await process(result, by: builder, chain, in: step) {
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
        guard error != .cancelled, error != .shutDown, let preprocess = command.givenFailurePreprocessor,
            core.withLock({ $0.hooks?.run.isPreprocessed }) != true
        else {
            return conclude(.failure(error))
        }
        work(.ending, otherwise: { conclude(.failure(.cancelled)) }) { [self] step in
            if step.isWanted { await preprocess(error) }
            return { [self] in conclude(.failure(error)) }
        }
    }

    func conclude(_ verdict: Verdict) {
        conclude(verdict, telling: [])
    }

    /// `accessories`: those of the run, to be told first; empty: not looked for yet.
    private func conclude(_ verdict: Verdict, telling accessories: [any Accessory]) {
        var told = accessories
        if !told.isEmpty { tell(told) { $0.requestWillStop($1) } }
        var end = RunEnd()
        // Not as one tuple, whose type would be looked up at run time.
        var success: (@Sendable (Request<C>) -> Void)?
        var failure: (@Sendable (Request<C>) -> Void)?
        var parent: (@Sendable (Result<C.Response, ErrandError>) -> Void)?
        // Once where nobody is to be told before the outcome is decided, twice else.
        var isSettled = false
        while !isSettled {
            isSettled = core.withLock { core in
                if told.isEmpty {
                    core.machine.processed()
                    guard core.told.isEmpty else {
                        told = core.told
                        return false
                    }
                }
                end.settle(verdict, isGroup: group != nil, in: &core)
                end.isValueLeft = !end.isSuccess && hasUntoldValue
                hasUntoldValue = false
                // Neither `swap` nor `take`, which wrap a closure of such a type in another, and allocate for it.
                success = self.success
                self.success = nil
                failure = self.failure
                self.failure = nil
                parent = self.parent
                self.parent = nil
                toldChild = child
                child = 0
                end.evenStopped = isToldEvenStopped
                isToldEvenStopped = false
                return true
            }
            if isSettled { break }
            guard !isApart else {
                let accessories = told
                return client.callbacks.async { self.conclude(verdict, telling: accessories) }
            }
            tell(told) { $0.requestWillStop($1) }
        }
        if end.isValueLeft { dropValue() }
        if cachePolicy != nil { keepOrDrop(end.isSuccess) }
        end.run?.hooks.stream?.end(verdict.result(end.outcome), of: self)
        if end.delegate != nil, told.isEmpty, isApart { return tellOnCallbackQueue(end, success, failure) }
        tell(end, success, failure)
        tell(told) { $0.requestDidStop($1) }
        resumeWaiters(end)
        let tellParent = if let parent { report(to: parent) } else { nil as (() -> Void)? }
        // A run that begins here is counted before this one is let go: a drain waits for it.
        endTelling()
        client.requestEnded(self)
        tellParent?()
    }

    /// A task that waits for the end has it already. A request that is apart is no group's child.
    @inline(never)
    private func tellOnCallbackQueue(
        _ end: RunEnd, _ success: (@Sendable (Request<C>) -> Void)?, _ failure: (@Sendable (Request<C>) -> Void)?
    ) {
        client.callbacks.async { [self] in
            // Whoever has stopped the request there meanwhile is not to hear of it: promise 3.
            let isSilenced = !client.reportsStops && core.withLock { $0.machine.isSilenced }
            if !isSilenced || end.evenStopped { tell(end, success, failure) }
            resumeWaiters(end)
            endTelling()
            client.requestEnded(self)
        }
    }

    /// The run did not succeed for all that.
    @inline(never)
    private func dropValue() {
        // Dies here, not under the lock.
        var dropped: (any Sendable)?
        core.withLock { _ in swap(&dropped, &storedValue) }
    }

    /// What the group is told, read before another run may take the value.
    @inline(never)
    private func report(to parent: @escaping @Sendable (Result<C.Response, ErrandError>) -> Void) -> () -> Void {
        let result = result ?? .failure(.cancelled)
        return { parent(result) }
    }

    private func tell(
        _ end: RunEnd, _ success: (@Sendable (Request<C>) -> Void)?, _ failure: (@Sendable (Request<C>) -> Void)?
    ) {
        // What was called before may have stopped the request, on this queue, since the outcome was decided.
        var isSilenced: Bool { !client.reportsStops && core.withLock { $0.machine.isSilenced } }
        switch end.outcome {
        case .succeeded:
            if let filter = command.givenSuccessFilter {
                filter(self)
                if isSilenced { break }
            }
            end.delegate?.requestFinished(self)
        case .failed:
            if let filter = command.givenFailureFilter {
                filter(self)
                if isSilenced { break }
            }
            end.delegate?.requestFailed(self)
        case .cancelled:
            if client.reportsStops { end.delegate?.requestFailed(self) }
        }
        guard success != nil || failure != nil else { return }
        let isSilent = (end.isStop && !client.reportsStops) || isSilenced
        guard !isSilent || end.evenStopped else { return }
        if end.isSuccess { success?(self) } else { failure?(self) }
    }
}
