import Synchronization

extension AnyRequest {
    /// What comes after a transfer.
    enum Step {
        case submit(RequestDescription, transfer: Int)
        /// Everybody was told.
        case finished
        /// The event was none of this run.
        case ignored
    }

    /// Starts the request; a finished one is started again, from its command, with nothing left of the run before.
    ///
    /// Returns false, and does nothing, while it runs or is still stopping, for a streamed request that is over, and for one of
    /// ``Client/run(_:overrides:)`` or ``Client/values(of:overrides:)`` that nobody watches, as it is found in
    /// ``Client/requests``: its result is the caller's alone. Accessories hear `requestWillStart` on this thread, before
    /// anything is sent; all other news comes on the callback queue, a failure to build the request included. After the
    /// client was shut down it fails with ``ErrandError/shutDown``.
    ///
    /// While the end of a run is being told, as inside its filters, delegate, closures and `requestDidStop`, a start returns
    /// true and begins when everybody was told, on the thread that tells; until then the request shows the run before.
    @discardableResult
    public final func start() -> Bool {
        startRun(installing: { _ in })
    }

    /// ``start()`` without a look at what is cached: the response comes from the network, and is stored (YTKNetwork
    /// `startWithoutCache`).
    @discardableResult
    public final func startIgnoringCache() -> Bool {
        startRun(installing: { $0.madeHooks().reading = .networkOnly })
    }

    /// `install` runs under the lock, where the request does start.
    final func startRun(installing install: (inout Core) -> Void) -> Bool {
        // A new run would take the result away from the task.
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

    /// What a run has left. It is taken under the lock and let go after it: with the last reference to a value or an
    /// error of the user's their `deinit` runs, which may well ask this request something.
    ///
    /// A class, as a first run has none of it and is not to carry its room about.
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
        let told: [any Accessory]
        let remains: Remains?
    }

    /// The first half of a start.
    final func begin(installing install: (inout Core) -> Void) -> RequestStateMachine.StartAction {
        let begun = core.withLock { core in
            let outcome = core.machine.outcome
            if outcome != nil, !isRestartable { return Begun(action: .refuse, told: [], remains: nil) }
            let action = core.machine.startRequested()
            if action != .refuse { install(&core) }
            return beginRun(action, after: outcome, in: &core)
        }
        tell(begun.told) { $0.requestWillStart($1) }
        return begun.action
    }

    /// The end of a run, and the begin of the next where one was asked for meanwhile.
    final func endTelling() {
        let begun = core.withLock { core in
            let outcome = core.machine.outcome
            guard case .submit(let transfer) = core.machine.told() else {
                return Begun(action: .refuse, told: [], remains: nil)
            }
            return beginRun(.submit(transfer: transfer), after: outcome, in: &core)
        }
        tell(begun.told) { $0.requestWillStart($1) }
        if case .submit(let transfer) = begun.action { proceed(transfer) }
    }

    private func beginRun(
        _ action: RequestStateMachine.StartAction, after outcome: RequestStateMachine.Outcome?, in core: inout Core
    ) -> Begun {
        guard case .submit = action else { return Begun(action: action, told: [], remains: nil) }
        core.told = client.accessories
        let left = core.hooks?.run
        if let hooks = core.hooks {
            hooks.run = RunHooks()
            hooks.run.stream = hooks.stream.take()
            hooks.run.reading = hooks.reading.take()
            swap(&hooks.run.onCached, &hooks.onCached)
            swap(&hooks.run.waiters, &hooks.waiters)
            hooks.run.observers = client.observers
            if !hooks.accessories.isEmpty {
                core.told += hooks.accessories
                hooks.run.observers += hooks.accessories.compactMap { $0 as? any EventAccessory }
                hooks.accessories = []
            }
        } else if !client.observers.isEmpty {
            core.madeHooks().run.observers = client.observers
        }
        var remains: Remains?
        if let outcome {
            remains = Remains(outcome, &core, value: takeValue(), hooks: left)
            core.earlier = []
            core.isReplayUnsent = false
            core.deadline = nil
        }
        return Begun(action: action, told: core.told, remains: remains)
    }

    /// The second half of a start.
    package final func proceed(_ transfer: Int) {
        do throws(ErrandError) {
            send(try prepare(), transfer: transfer)
        } catch {
            deliver(.failure(error.refused))
        }
    }

    /// Registers with the client, then builds.
    final func prepare() throws(ErrandError) -> RequestDescription {
        // A group that is let end needs its children.
        guard client.requestStarted(self) || (isChild && client.isDraining) else { throw .shutDown }
        let builder = client.builder
        let (stream, isObserved) = core.withLock { core -> (ResponseStream?, Bool) in
            core.builder = builder
            guard let run = core.hooks?.run else { return (nil, false) }
            return (run.stream, !run.observers.isEmpty)
        }
        var description = try describe(stream, by: builder)
        if let total = description.settings.timeouts.total?.duration {
            let deadline = client.stopwatch.now() + total
            core.withLock { $0.deadline = deadline }
        }
        if isObserved { description.reports = [.events, .progress] }
        if stream != nil { try description.stream() } else { plan(&description) }
        let own = commandInterceptors
        if !own.isEmpty || !client.interceptors.isEmpty, group == nil {
            let interceptors = client.interceptors + own
            let built = description
            core.withLock { core in
                let hooks = core.madeHooks()
                hooks.run.interceptors = interceptors
                hooks.run.storage = .init()
                hooks.run.built = built
            }
        }
        return description
    }

    /// Hands a transfer to interceptors where there are any, then to the transport.
    final func send(_ description: RequestDescription, transfer: Int) {
        guard let chain = interception() else {
            return submit(description, transfer: transfer)
        }
        work(.preparing, otherwise: { submit(description, transfer: transfer) }) { [self] step in
            let result: Result<RequestDescription, ErrandError> = await chain.prepare(description, in: step)
            return { [self] in
                switch result {
                case .success(let prepared): submit(prepared, insteadOf: description, transfer: transfer)
                case .failure(let error): deliver(.failure(error))
                }
            }
        }
    }

    /// What interceptors made of `built`.
    private func submit(_ prepared: RequestDescription, insteadOf built: RequestDescription, transfer: Int) {
        do throws(ErrandError) {
            var prepared = prepared
            if case .stream = prepared.body {
                throw .invalidBody.with(message: "an interceptor gave a body that nobody writes; use a source")
            }
            // Another host's pins and certificates are another host's, whoever led there.
            if prepared.url != built.url {
                prepared.settings = try client.builder.settings(forHop: prepared, from: built.url, byServer: false)
            }
            // Interceptors took their time, which counts.
            guard let timely = withTimeLeft(prepared) else { throw .timeoutTotal }
            submit(timely, transfer: transfer)
        } catch {
            deliver(.failure(refusal(error)))
        }
    }

    /// Hands a transfer to the transport, which keeps the request alive until its end; not one that was stopped before.
    /// `isStored`: the request has the description already.
    final func submit(_ description: RequestDescription, transfer: Int, isStored: Bool = false) {
        if !isStored { store(description) }
        let isWanted = core.withLock { core in
            core.hooks?.run.forgetDebts()
            let isWanted = core.machine.maySubmit(transfer: transfer)
            if isWanted { core.isReplayUnsent = false }
            return isWanted
        }
        guard isWanted else { return deliver(.failure(.cancelled)) }
        if description.reports.contains(.events) { callbacks.async { self.tell(.queued(description)) } }
        let pump = makePump(for: description)
        let id: TransferID
        do {
            id = try carrier.submit(description, for: self)
        } catch {
            return deliver(.failure(refusal(error)))
        }
        perform(core.withLock { $0.machine.submitted(id, transfer: transfer) })
        if let pump { pump.start(id) }
        if description.delivery == .streamed { payDebts(id) }
    }

    /// What is about to be sent is what the request shows from now on.
    final func store(_ description: RequestDescription) {
        let replaced = core.withLock { core in
            let replaced = core.description.take()
            core.description = description
            return replaced
        }
        // Dies here, not under the lock: see `Remains`.
        _ = replaced
    }

    /// The error of a transfer that the transport did not take: the first of a run, one after a redirect, or a replay.
    private func refusal(_ error: ErrandError) -> ErrandError {
        let (last, isReplay) = core.withLock { core in
            (core.earlier.last, core.hooks?.run.attemptsBeforeReplay == core.earlier.count)
        }
        guard let last else { return error.refused }
        return isReplay ? error.with(response: last.response) : error.refusingHop(after: last.response)
    }

    /// What the transport never heard of takes the way of any other end, so that callbacks never run inside `start`.
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

    /// Stops the request. Closures and delegate hear nothing more once this has returned on the callback queue, unless
    /// ``Client/Configuration/reportsStops`` is set; accessories hear of the end; an `async` caller gets
    /// `CancellationError`. What was not submitted yet is not sent. Does nothing where nothing runs.
    public final func stop() {
        perform(core.withLock { $0.machine.stopRequested() })
        group?.requestStopped()
    }

    /// Stops moving bytes; where the request is being prepared it is not sent yet. Idle and first-byte timeouts stand still
    /// meanwhile. Does nothing where nothing runs, so before a start too.
    public final func pause() {
        perform(core.withLock { $0.machine.pauseRequested() })
    }

    /// Undoes ``pause()``, however often that was called.
    public final func resume() {
        perform(core.withLock { $0.machine.resumeRequested() })
    }
}
