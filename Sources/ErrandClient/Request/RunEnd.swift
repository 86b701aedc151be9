extension AnyRequest {
    /// What was made of the result of the last transfer. The value waits in the request, as its type is the command's.
    enum Verdict {
        case success(Response)
        case failure(ErrandError)

        /// For a stream's reader: what it ends with.
        func result(_ outcome: RequestStateMachine.Outcome) -> Result<Response, ErrandError> {
            switch (outcome, self) {
            case (.cancelled, _): .failure(.cancelled)
            case (_, .success(let response)): .success(response)
            case (_, .failure(let error)): .failure(error)
            }
        }
    }

    /// What a run ends with: taken under the lock, told and let go after it.
    struct RunEnd {
        var outcome = RequestStateMachine.Outcome.cancelled
        var delegate: (any RequestDelegate)?
        var run: Run?
        /// Only to be let go.
        var builder: RequestBuilder?
        /// Closures are told of a stop too.
        var evenStopped = false
        /// A value that is not to be told.
        var isValueLeft = false

        /// What a run with hooks had; apart, as most have none.
        ///
        /// `@unchecked Sendable`: it is carried out of a lock, read by the one thread that ended the run, and dropped.
        final class Run: @unchecked Sendable {
            let hooks: RunHooks
            init(_ hooks: RunHooks) { self.hooks = hooks }
        }

        var isSuccess: Bool {
            if case .succeeded = outcome { true } else { false }
        }

        var isStop: Bool {
            if case .cancelled = outcome { true } else { false }
        }

        /// Decides the outcome; accessories have heard that the request will stop.
        mutating func settle(_ verdict: Verdict, isGroup: Bool, in core: inout Core) {
            switch verdict {
            case .success(let response):
                outcome = core.machine.concluded(.succeeded)
                core.response = isGroup ? nil : response
            case .failure(let error):
                outcome = core.machine.concluded(.failed(error))
                core.response = isGroup ? nil : error.response
            }
            swap(&builder, &core.builder)
            if !core.told.isEmpty { core.told = [] }
            if let hooks = core.hooks {
                delegate = hooks.delegate
                run = Run(hooks.run)
                hooks.run = RunHooks()
            }
        }
    }
}
