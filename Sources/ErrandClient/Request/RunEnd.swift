extension AnyRequest {
    /// The judgement of the last transfer's result. The value is kept in the request, because its type is the
    /// command's.
    enum Verdict {
        case success(Response)
        case failure(ErrandError)

        /// The result for the reader of a stream.
        func result(_ outcome: RequestStateMachine.Outcome) -> Result<Response, ErrandError> {
            switch (outcome, self) {
            case (.cancelled, _): .failure(.cancelled)
            case (_, .success(let response)): .success(response)
            case (_, .failure(let error)): .failure(error)
            }
        }
    }

    /// The end of a run: taken under the lock, reported and released after it.
    struct RunEnd {
        var outcome = RequestStateMachine.Outcome.cancelled
        var delegate: (any RequestDelegate)?
        var run: Run?
        /// Kept only to be released after the lock.
        var builder: RequestBuilder?
        /// Whether closures are called after a stop too.
        var notifiesOnStop = false
        /// Whether the request holds a value that must not be reported.
        var isValueLeft = false

        /// The hooks of a run; a separate object, because most runs have none.
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

        /// Decides the outcome. `requestWillStop` of the accessories was called before.
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
            if !core.notified.isEmpty { core.notified = [] }
            if let hooks = core.hooks {
                delegate = hooks.delegate
                run = Run(hooks.run)
                hooks.run = RunHooks()
            }
        }
    }
}
