import Synchronization

extension AnyRequest {
    /// The scope that gives callbacks the task-locals of the code that has started the run; `nil`: they get none.
    final var contextScope: AttemptScope? {
        client.observesAttempts ? core.withLock { $0.description?.attemptScope } : nil
    }

    /// Reports an event to the observers, on the callback queue. Reports nothing after the request was stopped: an
    /// engine reports a last progress even then.
    package final func notify(_ event: RequestEvent) {
        let observers = core.withLock { core -> [any EventAccessory] in
            guard let run = core.hooks?.run, !run.observers.isEmpty, !core.machine.isStopped else { return [] }
            return run.observers
        }
        guard !observers.isEmpty else { return }
        let scope = contextScope
        for observer in observers {
            guard let queue = observer.givenCallbackQueue ?? (isApart ? client.callbacks : nil) else {
                // An error of an observer is ignored: see `EventAccessory`.
                scope.runBeside { _ = try? observer.request(self, did: event) }
                continue
            }
            queue.async {
                // The request may have been stopped on the callback queue before this runs.
                if observer.givenCallbackQueue == nil, self.core.withLock({ $0.machine.isStopped }) { return }
                scope.runBeside { _ = try? observer.request(self, did: event) }
            }
        }
    }

    /// Calls the accessories, each on its own queue if it has one.
    final func notify(
        _ accessories: [any Accessory], _ message: @escaping @Sendable (any Accessory, AnyRequest) -> Void
    ) {
        guard !accessories.isEmpty else { return }
        let scope = contextScope
        for accessory in accessories {
            guard let queue = accessory.givenCallbackQueue else {
                scope.runBeside { message(accessory, self) }
                continue
            }
            queue.async { scope.runBeside { message(accessory, self) } }
        }
    }
}

extension AttemptScope? {
    /// Runs `body` with the task-locals of the code that has started the run, if there are observers that know them.
    fileprivate func runBeside(_ body: () -> Void) {
        guard let self else { return body() }
        self.within(.beside, body)
    }
}

extension RequestEvent {
    /// The event that observers get for a transport's event; `nil` if they get none.
    ///
    /// - Parameter description: The description of the present transfer.
    init?(_ event: TransferEvent.Kind, of description: @autoclosure () -> RequestDescription?) {
        switch event {
        case .started: self = .started
        case .connected(let trace): self = .connected(trace)
        case .sent:
            guard let description = description() else { return nil }
            self = .sent(description)
        case .head(let response): self = .head(response)
        case .progress(let progress): self = .progress(progress)
        case .retrying(let retry): self = .retrying(retry)
        case .decided(let decision): self = .decided(decision)
        // Other resends have their own events.
        case .resending(let reason) where reason == .connection || reason == .authentication: self = .resent(reason)
        case .ended, .chunk, .uploadCredit, .resending, .notResent: return nil
        }
    }
}
