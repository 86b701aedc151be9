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
    /// Returns false, and does nothing, while it runs or is still stopping. Accessories hear `requestWillStart` on this
    /// thread, before anything is sent; all other news comes on the callback queue, a failure to build the request
    /// included. After the client was shut down it fails with ``ErrandError/shutDown``.
    @discardableResult
    public final func start() -> Bool {
        start(installing: {})
    }

    /// `install` runs under the lock, where the request does start.
    final func start(installing install: () -> Void) -> Bool {
        guard let transfer = begin(installing: install) else { return false }
        do {
            submit(try prepare(), transfer: transfer)
        } catch {
            deliverRefusal(error)
        }
        return true
    }

    /// The first half of a start. Returns the number of the transfer, or `nil` where the request runs already.
    final func begin(installing install: () -> Void) -> Int? {
        let begun: (transfer: Int, told: [any Accessory])? = core.withLock { core in
            guard case .submit(let transfer) = core.machine.startRequested() else { return nil }
            core.response = nil
            core.description = nil
            core.deadline = nil
            if !core.earlier.isEmpty { core.earlier = [] }
            core.told = client.accessories
            if let hooks = core.hooks { core.told += hooks.accessories }
            resetResults()
            install()
            return (transfer, core.told)
        }
        guard let begun else { return nil }
        for accessory in begun.told { accessory.requestWillStart(self) }
        return begun.transfer
    }

    /// The second half: registers with the client, then builds.
    final func prepare() throws(ErrandError) -> RequestDescription {
        guard client.requestStarted() else { throw .shutDown }
        let description = try describe()
        if let total = description.settings.timeouts.total {
            let deadline = ContinuousClock.now + total
            core.withLock { $0.deadline = deadline }
        }
        return description
    }

    /// Hands a transfer to the transport, which keeps the request alive until its end.
    final func submit(_ description: RequestDescription, transfer: Int) {
        core.withLock { $0.description = description }
        let id: TransferID
        do {
            id = try client.transport.submit(description, for: self)
        } catch {
            return deliverRefusal(error)
        }
        perform(core.withLock { $0.machine.submitted(id, transfer: transfer) })
    }

    /// A refusal takes the way of any other failure, so that callbacks never run inside `start`.
    private func deliverRefusal(_ error: ErrandError) {
        TransferReceiver.deliver(CollectionOfOne(TransferEvent(self, .ended(.failure(error)))))
    }

    private func perform(_ action: RequestStateMachine.ControlAction) {
        switch action {
        case .none: break
        case .cancel(let id): client.transport.cancel(id)
        case .pause(let id): client.transport.pause(id)
        case .resume(let id): client.transport.resume(id)
        }
    }

    /// Stops the request. Closures and delegate hear nothing more once this has returned on the callback queue, unless
    /// ``Client/Configuration/reportsStops`` is set; accessories hear of the end; an `async` caller gets
    /// `CancellationError`. Does nothing where nothing runs.
    public final func stop() {
        perform(core.withLock { $0.machine.stopRequested() })
    }

    /// Stops moving bytes, or keeps the request from starting. Idle and first-byte timeouts stand still meanwhile.
    public final func pause() {
        perform(core.withLock { $0.machine.pauseRequested() })
    }

    /// Undoes ``pause()``, however often that was called.
    public final func resume() {
        perform(core.withLock { $0.machine.resumeRequested() })
    }

    /// Takes the result of a transfer as far as it goes: to the next transfer, or to the end.
    final func advance(_ result: TransferResult) -> Step {
        switch core.withLock({ $0.machine.transferEnded() }) {
        case .ignore:
            return .ignored
        case .conclude:
            conclude(.failure(.cancelled))
        case .evaluate:
            switch result {
            case .response(let response) where RedirectRules.isRedirect(response.statusCode):
                return follow(response)
            case .failure(.cancelled):
                // Not by the request's own stop: the transport was shut down beneath it.
                conclude(.failure(.shutDown))
            case .response, .failure:
                conclude(result)
            }
        }
        return .finished
    }

    private func follow(_ response: Response) -> Step {
        let (sent, hops, deadline) = core.withLock { ($0.description, $0.earlier.count, $0.deadline) }
        guard let sent else {
            conclude(.response(response))
            return .finished
        }
        let decision = RedirectRules.decide(
            response, to: sent, hops: hops, policy: redirectPolicy, connection: client.connection)
        switch decision {
        case .take:
            conclude(.response(response))
            return .finished
        case .fail(let error):
            conclude(.failure(error))
            return .finished
        case .follow(var next):
            if let deadline {
                let left = deadline - ContinuousClock.now
                guard left > .zero, let settings = try? next.settings.with(total: left) else {
                    conclude(.failure(.timeoutTotal.with(response: response)))
                    return .finished
                }
                next.settings = settings
            }
            let action = core.withLock { core in
                core.earlier.append(Attempt(number: hops + 1, url: sent.url, response: response, error: nil))
                return core.machine.hopDecided()
            }
            guard case .submit(let transfer) = action else {
                conclude(.failure(.cancelled))
                return .finished
            }
            return .submit(next, transfer: transfer)
        }
    }
}
