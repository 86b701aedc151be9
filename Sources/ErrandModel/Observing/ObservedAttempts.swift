/// One attempt, as all observers of its run see it. Used by one thread at a time.
package struct ObservedAttempts: Sendable {
    private struct Entry: Sendable {
        let attempt: any ObservedAttempt
        var note: AttemptNote
    }

    // Not one array: most clients have one observer.
    private var first: Entry
    private var others: [Entry] = []
    /// A transport that reports an end twice must not be counted twice.
    private var hasEnded = false

    init(_ first: any ObservedAttempt, isStreamed: Bool, _ timer: AttemptTimer) {
        self.first = Entry(attempt: first, note: AttemptNote(timer, isStreamed: isStreamed))
    }

    mutating func add(_ attempt: any ObservedAttempt) {
        others.append(
            Entry(attempt: attempt, note: AttemptNote(first.note.timer, isStreamed: first.note.isStreamed)))
    }

    /// The head of the attempt has arrived.
    package mutating func headArrived(_ head: Response, of scope: AttemptScope) {
        guard !hasEnded else { return }
        tell { $0.headArrived(head, of: scope, &$1) }
    }

    /// The engine itself has resent the attempt.
    package mutating func repeated(number: Int, of scope: AttemptScope) {
        tell { $0.repeated(number: number, of: scope, &$1) }
    }

    /// The attempt has ended.
    package mutating func ended(_ result: TransferResult, of scope: AttemptScope) {
        guard !hasEnded else { return }
        hasEnded = true
        tell { $0.ended(result, of: scope, &$1) }
    }

    /// The engine has not accepted the attempt.
    package mutating func refused(_ error: ErrandError, of scope: AttemptScope) {
        guard !hasEnded else { return }
        hasEnded = true
        tell { $0.refused(error, of: scope, &$1) }
    }

    @inline(__always)
    private mutating func tell(_ news: (any ObservedAttempt, inout AttemptNote) -> Void) {
        news(first.attempt, &first.note)
        for index in others.indices { news(others[index].attempt, &others[index].note) }
    }
}
