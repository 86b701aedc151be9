import Synchronization

/// One command that a client runs. Made by ``Client/start(_:overrides:completion:success:failure:)`` or
/// ``Client/request(_:overrides:)``.
///
/// The cost of a request determines the form of this class. A type that depends on the command's type is looked up at
/// run time wherever a variable or an enum of it is used, which costs some 300 instructions each time. Therefore a
/// verdict holds no value, the value is stored without its type, and each closure is stored on its own.
///
/// `@unchecked Sendable`: what this class adds is read and written only inside `core.withLock`.
public final class Request<C: Command>: AnyRequest, @unchecked Sendable {
    /// The command that this request runs.
    public let command: C
    /// The value made of the response, a `C.Response`. Users see it once the run has succeeded (``value``).
    // Read and written only inside `core.withLock`, so the exclusivity check of each access is not needed.
    @exclusivity(unchecked) nonisolated(unsafe) var storedValue: (any Sendable)?
    /// Whether `storedValue` has a value that was not reported yet.
    // As `storedValue`.
    @exclusivity(unchecked) nonisolated(unsafe) var hasUnreportedValue = false
    /// The group's number of the run whose end is being reported; 0 for none.
    // As `storedValue`.
    @exclusivity(unchecked) private nonisolated(unsafe) var notifiedChild: UInt32 = 0
    // The closures called at the end, besides accessories and delegate. They are removed before they are called, so
    // that a request can be started again from its own callback. As `storedValue`.
    @exclusivity(unchecked) private nonisolated(unsafe) var success: (@Sendable (Request<C>) -> Void)?
    // As `success`.
    @exclusivity(unchecked) private nonisolated(unsafe) var failure: (@Sendable (Request<C>) -> Void)?
    /// Whether the closures are called after a stop too, regardless of the configuration.
    // As `storedValue`.
    @exclusivity(unchecked) private nonisolated(unsafe) var notifiesOnStop = false
    /// The group's number of the run that `parent` is called for; 0 for none.
    // As `storedValue`.
    @exclusivity(unchecked) private nonisolated(unsafe) var child: UInt32 = 0
    /// Reports the result to the group that this request is a child of.
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

    /// A request whose callbacks run on the client's queue.
    @usableFromInline
    package convenience init(of client: Client, _ command: C, _ overrides: RequestOverrides?) {
        self.init(client: client, command: command, callbacks: client.callbacks, overrides: overrides)
    }

    /// The value that the command made of the response; `nil` until the request has succeeded.
    public var value: C.Response? {
        core.withLock { $0.machine.hasSucceeded ? storedValue : nil }.flatMap { typed($0) }
    }

    /// The stored value of this request, with its type.
    func typed(_ stored: some Sendable) -> C.Response? {
        try? exactly(stored)
    }

    /// The same as `typed(_:)`, but not as an optional, whose type would be looked up at run time.
    func exactly(_ stored: some Sendable) throws(ErrandError) -> C.Response {
        // A dynamic cast would take some hundred instructions for this. If the types are equal, the bits are the same.
        if type(of: stored) == C.Response.self { return unsafeBitCast(stored, to: C.Response.self) }
        guard let value = stored as? C.Response else { throw .internalFailure }
        return value
    }

    /// The value or the error; `nil` until the request has ended.
    public var result: Result<C.Response, ErrandError>? {
        let (ended, stored) = core.withLock { ($0.machine.outcome, storedValue) }
        switch ended {
        case .succeeded: return stored.flatMap { typed($0) }.map { .success($0) }
        case .failed(let error): return .failure(error)
        case .cancelled: return .failure(.cancelled)
        case nil: return nil
        }
    }

    /// Starts the request with closures, otherwise as ``AnyRequest/start()``. `success` or `failure` is called at the
    /// end, then `completion`. A stopped request calls none of them, unless ``Client/Configuration/reportsStops`` is
    /// set; then it calls `failure` and `completion`, with ``ErrandError/cancelled``. The closures run on the callback
    /// queue and are released when the run is over. They are not kept if this method returns false. A trailing closure
    /// without a label is the completion.
    @discardableResult
    public func start(
        completion: (@Sendable (Request<C>) -> Void)? = nil, success: (@Sendable (Request<C>) -> Void)? = nil,
        failure: (@Sendable (Request<C>) -> Void)? = nil
    ) -> Bool {
        // The replaced closures are released here, not under the lock.
        var success = Self.joined(success, completion)
        var failure = Self.joined(failure, completion)
        return startRun(installing: { _ in install(&success, &failure) })
    }

    /// Sets the closures for the next run of a request that a group starts. They work as those of
    /// ``start(completion:success:failure:)``, which replaces them. Does nothing while the request runs (YTKNetwork
    /// `setCompletionBlockWithSuccess:failure:`).
    public func whenDone(
        completion: (@Sendable (Request<C>) -> Void)? = nil, success: (@Sendable (Request<C>) -> Void)? = nil,
        failure: (@Sendable (Request<C>) -> Void)? = nil
    ) {
        // The replaced closures are released here, not under the lock.
        var success = Self.joined(success, completion)
        var failure = Self.joined(failure, completion)
        core.withLock { core in
            guard core.machine.isAtRest else { return }
            install(&success, &failure)
        }
    }

    /// A closure that calls `first`, then `then`.
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

    /// Stores the closures. On return the parameters hold the replaced closures.
    private func install(
        _ success: inout (@Sendable (Request<C>) -> Void)?, _ failure: inout (@Sendable (Request<C>) -> Void)?,
        notifiesOnStop: Bool = false
    ) {
        // Uses neither `swap` nor a tuple: see `conclude`.
        let replacedSuccess = self.success
        let replacedFailure = self.failure
        self.success = success
        self.failure = failure
        success = replacedSuccess
        failure = replacedFailure
        self.notifiesOnStop = notifiesOnStop
    }

    /// Starts the request for a group. `onEnd` is called last and once, with the result of this run. The group
    /// identifies the run by `number`.
    package func start(
        asChild number: UInt32, _ onEnd: @escaping @Sendable (Result<C.Response, ErrandError>) -> Void
    ) -> Bool {
        startRun(installing: { _ in
            parent = onEnd
            child = number
        })
    }

    /// The first half of a start: starts the run, but sends nothing yet.
    package func begin(
        notifiesOnStop: Bool, completion: @escaping @Sendable (Request<C>) -> Void
    ) -> RequestStateMachine.StartAction {
        var success: (@Sendable (Request<C>) -> Void)? = completion
        var failure = success
        return begin(installing: { _ in install(&success, &failure, notifiesOnStop: notifiesOnStop) })
    }

    // MARK: AnyRequest

    override func describe(
        _ stream: ResponseStream?, by builder: RequestBuilder
    ) throws(ErrandError) -> RequestDescription {
        if group != nil, stream != nil {
            throw .invalidArgument.with(message: "a group has no response body to stream")
        }
        if group != nil { return try builder.description(ofGroup: command, overrides: overrides) }
        if let stream { return try builder.description(of: stream.command, overrides: overrides) }
        return try builder.description(of: command, overrides: overrides)
    }

    package override func responseDecoder(by builder: RequestBuilder) -> ResponseDecoder? {
        if let decoder = overrides?.jsonDecoder { return ResponseDecoder(decoder: decoder, isOverride: true) }
        let own = command.givenJSONDecoder
        if own !== SharedCoders.jsonDecoder { return ResponseDecoder(decoder: own, isOverride: false) }
        guard let clients = builder.settings.jsonDecoder else { return nil }
        return ResponseDecoder(decoder: clients, isOverride: false)
    }

    override var isChild: Bool { core.withLock { _ in parent != nil } }

    override func place(ofChild number: UInt32) -> ChildPlace {
        if child == number { return .present }
        return notifiedChild == number ? .notifying : .elsewhere
    }

    /// A request whose response was streamed, or whose values a task reads, cannot run again: its reader is gone.
    override var isRestartable: Bool { !isApart && !(command is any StreamedCommand) }

    override var redirectPolicy: RedirectPolicy {
        overrides?.redirects ?? command.givenRedirects ?? client.redirects
    }

    override func takeValue() -> (any Sendable)? {
        hasUnreportedValue = false
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
        let (stream, interception) = core.withLock { core -> (ResponseStream?, Interception?) in
            guard let hooks = core.hooks else { return (nil, nil) }
            return (hooks.run.stream, hooks.run.interception)
        }
        guard interception != nil || mayWait(result) else {
            let verdict = judge(result, by: builder)
            return settle(stream == nil ? verdict : verdict.onBody(of: result.response))
        }
        allowAnswer(after: result)
        work(.processing(result.response), otherwise: { conclude(.failure(.cancelled)) }) { [self] step in
            switch await process(result, by: builder, interception, stream, in: step) {
            case .replay(let asked, let call, let interception):
                return { [self] in replay(asked, for: call, of: interception, after: result) }
            case .verdict(let verdict):
                return { [self] in
                    let verdict = stream == nil ? verdict : verdict.onBody(of: result.response)
                    if case .submit(let next, let transfer) = settle(verdict) { send(next, transfer: transfer) }
                }
            }
        }
        return .finished
    }

    /// Ends the run, unless the response came from the cache and the network is asked next.
    private func settle(_ verdict: Verdict) -> Step {
        if let next = bypassingCache(verdict) { return next }
        conclude(verdict)
        return .finished
    }

    override func conclude(_ error: ErrandError) {
        guard let preprocess = failurePreprocessor(for: error),
            core.withLock({ $0.hooks?.run.isPreprocessed }) != true
        else {
            return conclude(.failure(error))
        }
        work(.ending, otherwise: { conclude(.failure(.cancelled)) }) { [self] step in
            if step.isWanted { await preprocess(error) }
            return { [self] in conclude(.failure(error)) }
        }
    }

    /// The preprocessor of a failure; `nil`: none, or the end is a stop or a shutdown, which do not wait for it.
    func failurePreprocessor(for error: ErrandError) -> (@Sendable (ErrandError) async -> Void)? {
        error == .cancelled || error == .shutDown ? nil : command.givenFailurePreprocessor
    }

    func conclude(_ verdict: Verdict) {
        conclude(verdict, notifying: [])
    }

    /// Ends the run. `accessories`: the accessories of the run, to be called first; empty: not looked up yet.
    private func conclude(_ verdict: Verdict, notifying accessories: [any Accessory]) {
        var notified = accessories
        if !notified.isEmpty { notify(notified) { $0.requestWillStop($1) } }
        var end = RunEnd()
        // Not one tuple: its type would be looked up at run time.
        var success: (@Sendable (Request<C>) -> Void)?
        var failure: (@Sendable (Request<C>) -> Void)?
        var parent: (@Sendable (Result<C.Response, ErrandError>) -> Void)?
        // The loop runs once if no accessory is called before the outcome is decided, and twice otherwise.
        var isSettled = false
        while !isSettled {
            isSettled = core.withLock { core in
                if notified.isEmpty {
                    core.machine.processed()
                    guard core.notified.isEmpty else {
                        notified = core.notified
                        return false
                    }
                }
                end.settle(verdict, isGroup: group != nil, in: &core)
                end.isValueLeft = !end.isSuccess && hasUnreportedValue
                hasUnreportedValue = false
                // Neither `swap` nor `take`: both wrap a closure of such a type in another closure, which is allocated.
                success = self.success
                self.success = nil
                failure = self.failure
                self.failure = nil
                parent = self.parent
                self.parent = nil
                notifiedChild = child
                child = 0
                end.notifiesOnStop = notifiesOnStop
                notifiesOnStop = false
                return true
            }
            if isSettled { break }
            guard !isApart else {
                let accessories = notified
                return client.callbacks.async { self.conclude(verdict, notifying: accessories) }
            }
            notify(notified) { $0.requestWillStop($1) }
        }
        if end.isValueLeft { dropValue() }
        if cachePolicy != nil { keepOrDrop(verdict, isSuccess: end.isSuccess) }
        end.run?.hooks.interception?.close()
        let scope = observingScope(of: end)
        if let scope { scope.ended(verdict.observed(end.outcome)) }
        end.run?.hooks.stream?.end(verdict.result(end.outcome), of: self)
        if end.delegate != nil, notified.isEmpty, isApart { return notifyOnCallbackQueue(end, success, failure) }
        notifyInContext(of: scope, end, success, failure)
        notify(notified) { $0.requestDidStop($1) }
        resumeWaiters(end)
        let notifyParent = if let parent { report(to: parent) } else { nil as (() -> Void)? }
        // A new run that begins here is counted before this run's count is given up: a drain waits for the new run.
        endNotifying()
        client.requestEnded(self)
        notifyParent?()
    }

    /// Calls the delegate of a request whose events arrive on another queue. A task that waits for the end has its
    /// result already. Such a request is no group's child.
    @inline(never)
    private func notifyOnCallbackQueue(
        _ end: RunEnd, _ success: (@Sendable (Request<C>) -> Void)?, _ failure: (@Sendable (Request<C>) -> Void)?
    ) {
        client.callbacks.async { [self] in
            // If the request was stopped on the callback queue in the meantime, its callbacks must not be called:
            // promise 3.
            let isSilenced = !client.reportsStops && core.withLock { $0.machine.isSilenced }
            if !isSilenced || end.notifiesOnStop { notifyInContext(of: contextScope, end, success, failure) }
            resumeWaiters(end)
            endNotifying()
            client.requestEnded(self)
        }
    }

    /// Drops the stored value of a run that failed after the value was made.
    @inline(never)
    private func dropValue() {
        // The value is released here, not under the lock.
        var dropped: (any Sendable)?
        core.withLock { _ in swap(&dropped, &storedValue) }
    }

    /// Reads the result for the group before another run may take the value. The returned closure reports it.
    @inline(never)
    private func report(to parent: @escaping @Sendable (Result<C.Response, ErrandError>) -> Void) -> () -> Void {
        let result = result ?? .failure(.cancelled)
        return { parent(result) }
    }

    private func notifyInContext(
        of scope: AttemptScope?, _ end: RunEnd, _ success: (@Sendable (Request<C>) -> Void)?,
        _ failure: (@Sendable (Request<C>) -> Void)?
    ) {
        guard let scope else { return notify(end, success, failure) }
        scope.within(.beside) { notify(end, success, failure) }
    }

    private func notify(
        _ end: RunEnd, _ success: (@Sendable (Request<C>) -> Void)?, _ failure: (@Sendable (Request<C>) -> Void)?
    ) {
        // A callback called earlier on this queue may have stopped the request after the outcome was decided.
        var isSilenced: Bool { !client.reportsStops && core.withLock { $0.machine.isSilenced } }
        // Without hooks, filters and a dropped value no user code has run since then, so the lock is not taken.
        var mayBeSilenced = end.run != nil || end.isValueLeft || cachePolicy != nil
        switch end.outcome {
        case .succeeded:
            if let filter = command.givenSuccessFilter {
                filter(self)
                mayBeSilenced = true
                if isSilenced { break }
            }
            end.delegate?.requestFinished(self)
        case .failed:
            if let filter = command.givenFailureFilter {
                filter(self)
                mayBeSilenced = true
                if isSilenced { break }
            }
            end.delegate?.requestFailed(self)
        case .cancelled:
            if client.reportsStops { end.delegate?.requestFailed(self) }
        }
        guard success != nil || failure != nil else { return }
        let isSilent = (end.isStop && !client.reportsStops) || (mayBeSilenced && isSilenced)
        guard !isSilent || end.notifiesOnStop else { return }
        if end.isSuccess { success?(self) } else { failure?(self) }
    }
}
