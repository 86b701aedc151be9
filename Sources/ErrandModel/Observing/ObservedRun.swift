/// One run of a request, as one observer of the client's attempts sees it. It is made on the thread that starts the
/// request, because only there the task-locals of the caller are visible.
///
/// An observer may return the same object for many runs, because each call has the ``AttemptScope`` of the run, which
/// measures and counts.
///
/// No method has a default, as with ``Accessory``.
package protocol ObservedRun: AnyObject, Sendable {
    /// Whether ``within(_:_:)`` sets task-locals.
    var hasContext: Bool { get }

    /// An attempt is about to be handed to the engine. The description is final except for its fields. `headers`: the
    /// fields to send instead of those of the description; `nil`: no observer has set any. Set it to send other fields.
    /// `number`: the number of the run's sends before this one: its attempts, and the resends by the engine itself. Called
    /// on the thread that submits the attempt. That may be a loop thread if the engine's events are handled there, so this
    /// method must not block.
    ///
    /// The returned object may be shared with other attempts. For this attempt it gets exactly one
    /// ``ObservedAttempt/ended(_:of:_:)`` or ``ObservedAttempt/refused(_:of:_:)``.
    func attemptBegins(
        _ description: RequestDescription, number: Int, of scope: AttemptScope, headers: inout HeaderBlock?
    ) -> any ObservedAttempt

    /// The run sends nothing itself for now: it gets the result of a transfer that another run of the client has opened.
    /// `opener`: that run, as the same observer sees it. Called on the thread that submits the transfer.
    func joined(_ opener: any ObservedRun)

    /// Runs `body`, once, with the task-locals that the observer wants at that place.
    func within(_ place: RunPlace, _ body: () -> Void)

    /// Runs `body`, once, with the task-locals of ``RunPlace/inside``.
    func carry<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value

    /// The entries that the observer adds to log lines of the run, such as `trace_id` and `span_id`; empty: none. Read on
    /// any thread, during the run and after it.
    var logMetadata: [String: String] { get }

    /// The run has ended. Called once, before the callbacks for the end, on the thread that calls them.
    func ended(_ outcome: RunOutcome, of scope: AttemptScope)
}

/// The relation of code to a run.
package enum RunPlace: Sendable {
    /// As a part of the run: interceptors, validators, the children of a group, a token refresh.
    case inside
    /// After the run or beside it: accessories, delegates, closures.
    case beside
}

/// How a run ended.
package struct RunOutcome: Sendable {
    /// The three ends of a run. The raw values are fit for a metric label.
    package enum Kind: String, Sendable {
        case succeeded, failed, cancelled
    }

    package let kind: Kind
    /// The error of a run that failed.
    package let error: ErrandError?
    /// The last response, whole or partial.
    package let response: Response?

    package init(_ kind: Kind, error: ErrandError? = nil, response: Response? = nil) {
        self.kind = kind
        self.error = error
        self.response = response
    }
}
