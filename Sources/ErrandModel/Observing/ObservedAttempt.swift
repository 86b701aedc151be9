/// Attempts on the wire, as one observer sees them: one attempt, or several that the observer need not tell apart. Their
/// differences are in the ``AttemptNote``.
///
/// The calls for an attempt come one at a time, on the queue of the attempt's receiver. If that would be a loop thread,
/// they come on a queue of the client.
package protocol ObservedAttempt: AnyObject, Sendable {
    /// Status and header fields are known. Called for streamed responses, and for others if somebody observes events.
    func headArrived(_ head: Response, of scope: AttemptScope, _ note: inout AttemptNote)

    /// The engine itself has resent the request within this attempt, on another connection or with the answer to a
    /// challenge. `number`: the number of the run's sends before the resend. Called before the head and the end.
    func repeated(number: Int, of scope: AttemptScope, _ note: inout AttemptNote)

    /// The attempt has ended, by itself or because it was cancelled.
    func ended(_ result: TransferResult, of scope: AttemptScope, _ note: inout AttemptNote)

    /// The engine did not accept the attempt, and nothing was sent. Called on the thread that has submitted it.
    func refused(_ error: ErrandError, of scope: AttemptScope, _ note: inout AttemptNote)
}

/// State of one attempt for one observer. A value, so that its owner keeps it without an object.
package struct AttemptNote: Sendable {
    /// Measures from the submission on.
    package let timer: AttemptTimer
    /// Whether the response is streamed.
    package let isStreamed: Bool
    /// The observer's own data.
    package var kept: (any AnyObject & Sendable)?

    init(_ timer: AttemptTimer, isStreamed: Bool) {
        self.timer = timer
        self.isStreamed = isStreamed
    }
}
