import Synchronization

extension AnyRequest {
    /// Lets the observers of the client's attempts take what they need on the present thread, which starts the request.
    ///
    /// The observers get the end of the run through a scope. If the request has hooks, it is the scope in the hooks.
    /// Otherwise it is the scope in the description, which is stored before the first transfer. `keepsScope`: the run may
    /// end before its description is stored.
    @inline(never)
    final func observe(_ description: inout RequestDescription, keepsScope: Bool) {
        let command = erasedCommand
        let start = RunStart(
            command: type(of: command), urlTemplate: overrides?.urlTemplate ?? command.givenURLTemplate,
            isGroup: group != nil, maySendAgain: description.resilience.map { !$0.isOff } ?? client.sendsAgain)
        for layer in client.layers {
            guard let scope = layer.runBegins(description, start) else { continue }
            description.attemptScope = scope
            return keepScope(scope, makingHooks: keepsScope)
        }
    }

    /// `makingHooks`: also if the request has no hooks.
    final func keepScope(_ scope: AttemptScope, makingHooks: Bool) {
        core.withLock { core in
            let hooks = makingHooks ? core.madeHooks() : core.hooks
            hooks?.run.scope = scope
        }
    }

    /// The scope through which the observers of the client's attempts get the end of the run; `nil`: there are none, or
    /// the run has ended before it was observed. Called before the next run begins.
    final func observingScope(of end: RunEnd) -> AttemptScope? {
        guard client.observesAttempts else { return nil }
        return end.run?.hooks.scope ?? contextScope
    }
}

extension AnyRequest {
    /// What the observers of the client's attempts add to log lines of the present or last run, such as the id of a trace.
    /// Empty before the request is built.
    package final var logMetadata: [String: String] { contextScope?.logMetadata ?? [:] }
}

extension AnyRequest.Verdict {
    /// The end of a run for observers of attempts.
    func observed(_ outcome: RequestStateMachine.Outcome) -> RunOutcome {
        switch (outcome, self) {
        case (.succeeded, .success(let response)): RunOutcome(.succeeded, response: response)
        case (.succeeded, .failure(let error)): RunOutcome(.succeeded, response: error.response)
        case (.failed(let error), _): RunOutcome(.failed, error: error, response: error.response)
        case (.cancelled, .success(let response)): RunOutcome(.cancelled, response: response)
        case (.cancelled, .failure(let error)): RunOutcome(.cancelled, response: error.response)
        }
    }
}
