import Synchronization

/// State that the attempts of one run share, for the observers of attempts: the data that each observer has taken from
/// the place where the request was started, and the number of the attempts so far.
///
/// The scope is a part of the description. So it reaches each attempt of the run, on whichever thread the attempt is sent
/// and whatever its cause is: a redirect, a replay, a retry, a hedge, a body that the engine needs again, a transfer of a
/// download, a revalidation in the background. A transfer that requests share has the scope of the request that opened
/// the transfer. Any thread.
///
/// The scope is the only additional object of most observed requests. The description refers to it directly
/// (``DescriptionExtra``), it keeps the notes of the observers about the run, and it watches the attempt of a plain
/// request (``watchBegins(_:)``).
///
/// `@unchecked Sendable`: `watched` is read and written by one thread at a time. The thread that has claimed it writes it
/// before the attempt is submitted. From then on only the receiver's queue uses it until the end, or the submitting thread
/// if the attempt is refused. `isWatching` orders this before the next claim. The rest is constant or atomic.
package final class AttemptScope: DescriptionExtra, @unchecked Sendable {
    /// The scope of the run that the present task works for, such as that of its interceptors.
    @TaskLocal package static var current: AttemptScope?

    // One run for each observer of the client, in their order. Not one array: most clients have one observer.
    private let first: any ObservedRun
    private let others: [any ObservedRun]
    /// What the command asks for.
    package let url: String
    /// Whether an observer has task-locals for the code of the run.
    private let hasContext: Bool
    /// Of a ``part()``: the scope that it is a part of.
    private let whole: AttemptScope?
    private let timer = AttemptTimer()
    private let sent = Atomic<Int>(0)
    /// The number of resends that the engine itself has made within attempts.
    private let repeated = Atomic<Int>(0)
    /// `total`: the attempts of all parts. `timeToHead`: the nanoseconds from the start of the run to the head of a
    /// streamed response that the caller has got; less than 0: it has got none.
    private let total = Atomic<Int>(0)
    private let timeToHead = Atomic<Int64>(-1)
    private let isWatching = Atomic<Bool>(false)
    // Unchecked: one thread at a time, see above.
    @exclusivity(unchecked) private var watched: ObservedAttempts?

    /// The runs of a client's observers, in their order. `url`: what the command asks for.
    package convenience init(_ first: any ObservedRun, _ others: [any ObservedRun], url: String) {
        self.init(first, others, url: url, partOf: nil)
    }

    private init(_ first: any ObservedRun, _ others: [any ObservedRun], url: String, partOf whole: AttemptScope?) {
        self.first = first
        self.others = others
        self.url = url
        self.whole = whole
        hasContext = first.hasContext || others.contains { $0.hasContext }
        super.init()
    }

    // MARK: Attempts

    /// An attempt with this description is about to be handed to the engine. `headers`: set if an observer wants other
    /// fields to be sent.
    package func attemptBegins(
        _ description: RequestDescription, headers: inout HeaderBlock?
    ) -> ObservedAttempts {
        // The earlier sends: the attempts, and the resends that the engine itself has made.
        let number = sent.wrappingAdd(1, ordering: .relaxed).oldValue + repeated.load(ordering: .relaxed)
        let run = whole ?? self
        run.total.wrappingAdd(1, ordering: .relaxed)
        // A further range of a download does not undo that the caller has got the head.
        if whole == nil { timeToHead.store(-1, ordering: .relaxed) }
        let timer = AttemptTimer()
        var attempts = ObservedAttempts(
            first.attemptBegins(description, number: number, of: self, headers: &headers),
            isStreamed: description.delivery == .streamed, timer)
        for other in others {
            attempts.add(other.attemptBegins(description, number: number, of: self, headers: &headers))
        }
        return attempts
    }

    /// The engine itself has resent an attempt. Returns the number of the sends before that resend.
    package func attemptRepeated() -> Int {
        repeated.wrappingAdd(1, ordering: .relaxed).newValue + sent.load(ordering: .relaxed) - 1
    }

    /// The engine has not accepted an attempt: the next one takes its number.
    package func attemptRefused() {
        sent.wrappingSubtract(1, ordering: .relaxed)
        (whole ?? self).total.wrappingSubtract(1, ordering: .relaxed)
    }

    /// The scope of a transfer beside the others, such as a further range of a download. It repeats none of the other
    /// transfers, so its attempts have their own numbers.
    package func part() -> AttemptScope { AttemptScope(first, others, url: url, partOf: whole ?? self) }

    /// The scope of a transfer that the run does not wait for, such as a revalidation behind a stale answer.
    /// Its attempts are not counted for the run, which may have ended before they begin.
    package func background() -> AttemptScope { AttemptScope(first, others, url: url, partOf: nil) }

    /// The attempts of the run so far, without those that the engine has not accepted.
    package var attempts: Int { (whole ?? self).total.load(ordering: .relaxed) }

    /// The caller gets the head of a streamed response, and may take any time from now on. Not called for a head that a
    /// retry, a redirect or a replay follows.
    package func streamBegan() {
        let run = whole ?? self
        run.timeToHead.store(run.timer.elapsed, ordering: .relaxed)
    }

    /// How long the run has taken, in nanoseconds. If the caller has got the head of a streamed response, the time ends
    /// there; otherwise it ends now.
    package var duration: Int64 {
        let run = whole ?? self
        let time = run.timeToHead.load(ordering: .relaxed)
        return time < 0 ? run.timer.elapsed : time
    }

    // MARK: The attempt of a plain request

    /// Takes an attempt whose events this scope is to see; `false`: the scope watches another one.
    package func watchBegins(_ attempts: ObservedAttempts) -> Bool {
        guard !isWatching.exchange(true, ordering: .acquiringAndReleasing) else { return false }
        watched = attempts
        return true
    }

    /// The head of the watched attempt has arrived.
    package func watchedHeadArrived(_ head: Response) { watched?.headArrived(head, of: self) }

    /// The engine itself has resent the watched attempt.
    package func watchedAttemptRepeated() { watched?.repeated(number: attemptRepeated(), of: self) }

    /// The watched attempt has ended.
    package func watchedAttemptEnded(_ result: TransferResult) {
        var attempts = watchEnds()
        attempts?.ended(result, of: self)
    }

    /// The engine has not accepted the watched attempt.
    package func watchedAttemptRefused(_ error: ErrandError) {
        var attempts = watchEnds()
        attemptRefused()
        attempts?.refused(error, of: self)
    }

    private func watchEnds() -> ObservedAttempts? {
        let attempts = watched
        watched = nil
        isWatching.store(false, ordering: .releasing)
        return attempts
    }

    // MARK: The run

    /// The entries that the run's observers add to its log lines.
    package var logMetadata: [String: String] {
        others.reduce(into: first.logMetadata) { all, run in all.merge(run.logMetadata) { _, last in last } }
    }

    /// The run joins a transfer that another run of the same client has opened.
    package func joined(_ opener: AttemptScope) {
        first.joined(opener.first)
        for (run, other) in zip(others, opener.others) { run.joined(other) }
    }

    /// The run has ended.
    package func ended(_ outcome: RunOutcome) {
        first.ended(outcome, of: self)
        for run in others { run.ended(outcome, of: self) }
    }

    // MARK: Code that belongs to the run

    private var runCount: Int { 1 + others.count }
    private func run(at index: Int) -> any ObservedRun { index == 0 ? first : others[index - 1] }

    /// Runs `body` with the task-locals that the observers want at that place.
    package func within(_ place: RunPlace, _ body: () -> Void) {
        if !hasContext, case .beside = place { return body() }
        within(place, from: 0, body)
    }

    private func within(_ place: RunPlace, from index: Int, _ body: () -> Void) {
        guard index < runCount else {
            guard case .inside = place else { return body() }
            return Self.$current.withValue(self) { body() }
        }
        run(at: index).within(place) { within(place, from: index + 1, body) }
    }

    /// A task with the task-locals of the present one, and with those of ``RunPlace/inside``.
    package func makeTask(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        var made: Task<Void, Never>?
        within(.inside) { made = Task { await body() } }
        return made ?? Task { await body() }
    }

    /// Runs `body` with the task-locals of ``RunPlace/inside``, for a task that has none of its own.
    package func carry<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value {
        await carry(from: 0, body)
    }

    private func carry<Value: Sendable>(
        from index: Int, _ body: @escaping @Sendable () async -> Value
    ) async -> Value {
        guard index < runCount else { return await Self.$current.withValue(self) { await body() } }
        return await run(at: index).carry { await self.carry(from: index + 1, body) }
    }
}
