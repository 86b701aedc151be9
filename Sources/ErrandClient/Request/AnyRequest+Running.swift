import Synchronization

extension AnyRequest {
    /// The next step after a transfer.
    enum Step {
        case submit(RequestDescription, transfer: Int)
        /// The run has ended.
        case finished
        /// The event does not belong to this run.
        case ignored
    }

    /// Starts the request. A finished request is started again from its command; nothing remains of the previous run.
    ///
    /// Returns false, and does nothing, in these cases: the request runs or is still stopping; it is a streamed request
    /// that has ended; or it is a request of ``Client/run(_:overrides:)`` or ``Client/values(of:overrides:)`` without
    /// watchers, found in ``Client/requests``, whose result belongs to its caller alone.
    ///
    /// Accessories get `requestWillStart` on this thread, before anything is sent. All other callbacks run on the
    /// callback queue, also for a failure to build the request. After the client was shut down the request fails with
    /// ``ErrandError/shutDown``.
    ///
    /// While the end of a run is being reported (inside its filters, delegate, closures and `requestDidStop`), a start
    /// returns true. The new run begins after all callbacks of the previous one, on the thread that calls them. Until
    /// then the request shows the previous run.
    @discardableResult
    public final func start() -> Bool {
        startRun(installing: { _ in })
    }

    /// `install` runs under the lock, if the request does start.
    final func startRun(installing install: (inout Core) -> Void) -> Bool {
        // A new run would take the result away from the task that waits for it.
        guard !isDirect else { return false }
        switch begin(installing: install) {
        case .submit(let transfer):
            proceed(transfer)
            return true
        case .postpone:
            return true
        case .refuse:
            return false
        }
    }

    /// What a previous run has left. It is taken under the lock and released after the lock: releasing the last
    /// reference to a user's value or error runs its `deinit`, which may call this request.
    ///
    /// A class, because a first run has no remains and should not reserve room for them.
    ///
    /// `@unchecked Sendable`: it is only carried out of a lock and dropped; the hooks in it are never used again.
    private final class Remains: @unchecked Sendable {
        let outcome: RequestStateMachine.Outcome
        let response: Response?
        let description: RequestDescription?
        let earlier: [Attempt]
        let value: (any Sendable)?
        let hooks: RunHooks?

        init(_ outcome: RequestStateMachine.Outcome, _ core: inout Core, value: (any Sendable)?, hooks: RunHooks?) {
            self.outcome = outcome
            response = core.response.take()
            description = core.description.take()
            earlier = core.earlier
            self.value = value
            self.hooks = hooks
        }
    }

    private struct Begun: Sendable {
        let action: RequestStateMachine.StartAction
        let notified: [any Accessory]
        let remains: Remains?
    }

    /// The first half of a start: changes the state under the lock.
    final func begin(installing install: (inout Core) -> Void) -> RequestStateMachine.StartAction {
        let begun = core.withLock { core in
            let outcome = core.machine.outcome
            if outcome != nil, !isRestartable { return Begun(action: .refuse, notified: [], remains: nil) }
            let action = core.machine.startRequested()
            if action != .refuse { install(&core) }
            return beginRun(action, after: outcome, in: &core)
        }
        notify(begun.notified) { $0.requestWillStart($1) }
        return begun.action
    }

    /// Ends the run after its callbacks, and begins the next run if one was requested meanwhile.
    final func endNotifying() {
        let begun = core.withLock { core in
            let outcome = core.machine.outcome
            guard case .submit(let transfer) = core.machine.notified() else {
                return Begun(action: .refuse, notified: [], remains: nil)
            }
            return beginRun(.submit(transfer: transfer), after: outcome, in: &core)
        }
        notify(begun.notified) { $0.requestWillStart($1) }
        if case .submit(let transfer) = begun.action { proceed(transfer) }
    }

    private func beginRun(
        _ action: RequestStateMachine.StartAction, after outcome: RequestStateMachine.Outcome?, in core: inout Core
    ) -> Begun {
        guard case .submit = action else { return Begun(action: action, notified: [], remains: nil) }
        core.notified = client.accessories
        var left: RunHooks?
        if let hooks = core.hooks {
            left = hooks.run
            hooks.run = RunHooks()
            hooks.run.stream = hooks.stream.take()
            hooks.run.reading = hooks.reading.take()
            swap(&hooks.run.onCached, &hooks.onCached)
            swap(&hooks.run.waiters, &hooks.waiters)
            hooks.run.observers = client.observers
            if !hooks.accessories.isEmpty {
                core.notified += hooks.accessories
                hooks.run.observers += hooks.accessories.observers
                hooks.accessories = []
            }
        } else if !client.observers.isEmpty {
            core.madeHooks().run.observers = client.observers
        }
        var remains: Remains?
        if let outcome {
            remains = Remains(outcome, &core, value: takeValue(), hooks: left)
            core.earlier = []
            core.resends = []
            core.services = []
            core.wasRefused = false
            core.isUnsent = false
            core.deadline = nil
        }
        return Begun(action: action, notified: core.notified, remains: remains)
    }

    /// The second half of a start: builds and sends the request.
    package final func proceed(_ transfer: Int) {
        do throws(ErrandError) {
            var isIntercepted = false
            let description = try prepare(&isIntercepted)
            if isIntercepted {
                send(description, transfer: transfer)
            } else {
                submit(description, transfer: transfer)
            }
        } catch {
            deliver(.failure(error.refused))
        }
    }

    /// Registers the request with the client, then builds it. `isIntercepted`: set if the interceptors come next. It is
    /// not part of the result, because a tuple would be copied by the runtime.
    final func prepare(_ isIntercepted: inout Bool) throws(ErrandError) -> RequestDescription {
        // A group that may end during a drain needs its children.
        guard client.requestStarted(self) || (isChild && client.isDraining) else { throw .shutDown }
        let builder = client.builder
        let (stream, isObserved) = core.withLock { core -> (ResponseStream?, Bool) in
            core.builder = builder
            guard let hooks = core.hooks else { return (nil, false) }
            return (hooks.run.stream, !hooks.run.observers.isEmpty)
        }
        let description = try describe(stream, by: builder)
        let own = commandInterceptors
        isIntercepted = group == nil && !(own.isEmpty && client.interceptors.isEmpty)
        // Most requests have none of this, and their description is not copied.
        guard
            isIntercepted || isObserved || stream != nil || cachePolicy != nil || description.settings.hasTotalTimeout
                || client.hasLayers && wantsLayers
        else { return description }
        let interceptors = isIntercepted ? client.interceptors + own : []
        return try runDescription(from: description, stream, isObserved: isObserved, interceptors)
    }

    /// Whether ``addLayers(to:)`` has something to add.
    private var wantsLayers: Bool {
        client.observesAttempts || client.timeLeftOfTask?() != nil
    }

    /// Adds what the client's layers need: the deadline of the task that starts the request. From here on the deadline is
    /// part of the total time. So it also applies to redirects, replays, the waits of interceptors and the children of a
    /// group, although other tasks and threads send them.
    @inline(never)
    private func addLayers(to description: inout RequestDescription) throws(ErrandError) {
        guard let left = client.timeLeftOfTask?() else { return }
        guard left > .zero else {
            throw ErrandError.deadlineExceeded.with(
                message: "the deadline of the task has passed, so the request was not sent", isRefusal: true)
        }
        if let total = description.settings.timeouts.total?.duration, total <= left { return }
        description.settings = try description.settings.with(total: min(left, Timeouts.maximum), isCutShort: true)
    }

    /// Adds to the built description what depends on the run, and notes the run's deadline and interceptors.
    @inline(never)
    private func runDescription(
        from description: RequestDescription, _ stream: ResponseStream?, isObserved: Bool,
        _ interceptors: [any Interceptor]
    ) throws(ErrandError) -> RequestDescription {
        var description = description
        if client.hasLayers {
            if client.observesAttempts { observe(&description, keepsScope: !interceptors.isEmpty) }
            do throws(ErrandError) {
                try addLayers(to: &description)
            } catch {
                // The description will not be stored.
                if let scope = description.attemptScope { keepScope(scope, makingHooks: true) }
                throw error
            }
        }
        if let total = description.settings.timeouts.total?.duration {
            let deadline = client.stopwatch.now() + total
            core.withLock { $0.deadline = deadline }
        }
        if isObserved {
            description.reports = [.events, .progress]
            if description.options.contains(.connectionTrace) { description.reports.insert(.connection) }
        }
        if stream != nil { try description.stream() } else { plan(&description) }
        if !interceptors.isEmpty {
            let built = description
            let skipped = InterceptionScope.current.skipped(of: client)
            core.withLock { core in
                let hooks = core.madeHooks()
                hooks.run.interceptors = interceptors
                hooks.run.skipped = skipped
                hooks.run.storage = .init()
                hooks.run.built = built
            }
        }
        return description
    }

    /// Stores the description, and hands the transfer to the transport, which keeps the request alive until the end of
    /// the transfer. A transfer that was stopped before is not handed over.
    final func submit(_ description: RequestDescription, transfer: Int) {
        // The old description is released after the lock: see `Remains`.
        var stored: RequestDescription? = description
        let isWanted = core.withLock { core in
            swap(&core.description, &stored)
            return core.claimTransfer(transfer)
        }
        hand(description, transfer: transfer, isWanted: isWanted)
    }

    /// The second half of ``submit(_:transfer:)``. `isWanted`: what `claimTransfer` has returned.
    final func hand(_ description: RequestDescription, transfer: Int, isWanted: Bool) {
        guard isWanted else { return deliver(.failure(.cancelled)) }
        if description.reports.contains(.events) { callbacks.async { self.notify(.queued(description)) } }
        let hasPump = makePump(for: description, transfer: transfer)
        let id: TransferID
        do {
            id = try carrier.submit(description, for: self)
        } catch {
            return deliver(.failure(refusal(error)))
        }
        let (action, isGivenUp) = core.withLock { core in
            (core.machine.submitted(id, transfer: transfer), core.hooks?.run.isGivenUp == true)
        }
        perform(action)
        if isGivenUp { carrier.cancel(id) }
        if hasPump { startPump(id, transfer: transfer) }
        if description.delivery == .streamed { applyCredit(id) }
    }

    /// Stores the description of the transfer that is sent next; the request shows it from now on.
    final func store(_ description: RequestDescription) {
        // The old description is released after the lock: see `Remains`.
        var description: RequestDescription? = description
        core.withLock { swap(&$0.description, &description) }
    }

    /// The error of a transfer that the transport did not accept, or of which nothing was sent. It may be the first
    /// transfer of a run, one after a redirect, or a replay.
    final func refusal(_ error: ErrandError) -> ErrandError {
        let (last, isReplay, isSentAgain) = core.withLock { core in
            core.wasRefused = true
            return (
                core.earlier.last, core.hooks?.run.attemptsBeforeReplay == core.earlier.count,
                core.resends.contains(.body)
            )
        }
        guard let last else { return error.with(isRefusal: !isSentAgain) }
        return isReplay
            ? error.with(response: last.response, isRefusal: false) : error.refusingHop(after: last.response)
    }

    /// Delivers the result of a transfer that the transport never received. It is delivered like any other end, so that
    /// callbacks never run inside `start`.
    final func deliver(_ result: TransferResult) {
        TransferReceiver.deliver(CollectionOfOne(TransferEvent(self, .ended(result))))
    }

    final func perform(_ first: RequestStateMachine.ControlAction) {
        var action = first
        while true {
            switch action {
            case .none: return
            case .cancel(let id): return carrier.cancel(id)
            case .pause(let id): carrier.pause(id)
            case .resume(let id): carrier.resume(id)
            case .abandon: return abandonWork()
            }
            let performed = action
            action = core.withLock { $0.machine.controlPerformed(performed) }
        }
    }

    /// Stops the request. A transfer that was not submitted yet is not sent. If this method is called on the callback
    /// queue, closures and delegate are not called after it returns, unless ``Client/Configuration/reportsStops`` is
    /// set. Accessories are called for the end. An `async` caller gets `CancellationError`. Does nothing if the request
    /// does not run.
    public final func stop() {
        perform(core.withLock { $0.machine.stopRequested() })
        group?.requestStopped()
    }

    /// Pauses the transfer of bytes. A request that is still being prepared is not sent yet. Idle and
    /// first-byte timeouts do not count during a pause. Does nothing if the request does not run, for example before a
    /// start.
    public final func pause() {
        perform(core.withLock { $0.machine.pauseRequested() })
    }

    /// Ends a pause. One call is enough, regardless of how often ``pause()`` was called.
    public final func resume() {
        perform(core.withLock { $0.machine.resumeRequested() })
    }
}
