import Errand
import Glibc
import Synchronization

extension Cassette {
    /// How the cassette treats a request.
    enum Answer: Sendable {
        case replay(HAR.Entry)
        /// The request is sent.
        case record
        case mismatch(CassetteMismatch)
    }

    private static let mostMismatches = 1000

    /// The answer to a request: the next recorded exchange whose request matches. That exchange is used from now on.
    func answer(to sent: HAR.Sent) -> Answer {
        let question = RecordedRequests.Question(sent, by: matching)
        let found: (taken: Int?, last: Int?)
        if let comparison {
            found = take(question, by: comparison)
        } else {
            found = state.withLock { $0.file.take(question) }
        }
        let entries = state.withLock { $0.file.entries }
        if let taken = found.taken { return .replay(entries[taken]) }
        if allowsRepeats, let last = found.last { return .replay(entries[last]) }
        if mayRecord { return .record }
        let mismatch = CassetteMismatch(
            path: path, mode: mode, request: "\(sent.method) \(sent.url)", nearest: nearest(to: sent, in: entries))
        add(mismatch)
        return .mismatch(mismatch)
    }

    private func add(_ mismatch: CassetteMismatch) {
        state.withLock { state in
            if state.mismatches.count < Self.mostMismatches { state.mismatches.append(mismatch) }
        }
    }

    /// Like the method of ``RecordedRequests``, with the program's comparison. The comparison runs without the lock,
    /// because it may use the cassette.
    private func take(
        _ question: RecordedRequests.Question, by comparison: @escaping Comparison
    ) -> (taken: Int?, last: Int?) {
        let (file, matches) = state.withLock { ($0.file, $0.file.matches(question)) }
        func isEqual(_ index: Int) -> Bool { comparison(file.entries[index].request, question.sent).isEmpty }
        for index in matches where !file.isUsed[index] && isEqual(index) {
            // Another request may have used the exchange meanwhile.
            if state.withLock({ $0.file.use(index) }) { return (index, index) }
        }
        return (nil, allowsRepeats ? matches.last(where: isEqual) : nil)
    }

    private func nearest(to sent: HAR.Sent, in entries: [HAR.Entry]) -> CassetteMismatch.Nearest? {
        var nearest: CassetteMismatch.Nearest?
        var least = Int.max
        for (index, entry) in entries.enumerated() {
            var differences = matching.differences(recorded: entry.request, sent: sent)
            if differences.isEmpty, let comparison { differences = comparison(entry.request, sent) }
            let distance = differences.reduce(0) { $0 + $1.weight }
            guard distance < least else { continue }
            least = distance
            nearest = CassetteMismatch.Nearest(
                number: index + 1, request: "\(entry.request.method) \(entry.request.url)", differences: differences)
        }
        return nearest
    }

    /// A recorded exchange that answers a request before its body is written.
    struct EarlyAnswer: Sendable {
        let entry: HAR.Entry
        /// The place of the exchange in the file.
        let index: Int
        /// Whether the body is compared when it is complete. It is not if the recorded server did not take the whole
        /// body either.
        let isCompared: Bool
    }

    /// The answer to a streamed request whose body is not written yet. There is one if bodies do not count, or if only
    /// one exchange is left for the request. The exchange is used from now on. Without an early answer, a program whose
    /// upload depends on the answer would wait forever. `nil`: the request is compared when its body is complete.
    func earlyAnswer(to description: RequestDescription) -> EarlyAnswer? {
        guard description.delivery == .streamed else { return nil }
        let sent = compared(description, body: [])
        let head = matching.head(of: sent)
        let (entries, unused) = state.withLock { ($0.file.entries, $0.file.unused(of: head)) }
        let found = unused.filter { comparison?(entries[$0].request, sent).isEmpty ?? true }
        guard let index = found.first, matching.body == .ignored || found.count == 1,
            state.withLock({ $0.file.use(index) })
        else { return nil }
        let entry = entries[index]
        let isTaken = (200...299).contains(entry.response?.status ?? 0) && entry.failure == nil
        let isCompared = matching.body != .ignored || comparison != nil
        return EarlyAnswer(
            entry: entry, index: index,
            isCompared: isCompared && isTaken && entry.request.body?.isTruncated != true)
    }

    /// Called when the body of a request that is already answered is complete, or longer than the part that is kept
    /// (`isCut`). A body that differs is added to the ``mismatches`` and reported on standard error, because the
    /// request already has its answer.
    func compare(_ body: [UInt8], isCut: Bool, of description: RequestDescription, with early: EarlyAnswer) {
        let sent = compared(description, body: body, isCut: isCut)
        let recorded = early.entry.request
        var differences: [RequestDifference] = []
        if let difference = matching.bodyDifference(recorded.body, sent.body) { differences.append(difference) }
        if differences.isEmpty, let comparison { differences = comparison(recorded, sent) }
        guard !differences.isEmpty else { return }
        let nearest = CassetteMismatch.Nearest(
            number: early.index + 1, request: "\(recorded.method) \(recorded.url)", differences: differences)
        let mismatch = CassetteMismatch(
            path: path, mode: mode, request: "\(sent.method) \(sent.url)", nearest: nearest, isAnswered: true)
        add(mismatch)
        var text = "\(mismatch)\n"
        text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// The upload of a request that is not sent has failed, or a timeout has ended it. A recorded exchange that ended by
    /// the same error is used from now on. Bodies are not compared, because the number of bytes that were written before
    /// the failure is a matter of chance.
    func uploadEnded(_ sent: HAR.Sent, by error: ErrandError) {
        let head = matching.head(of: sent)
        state.withLock { state in
            let index = state.file.unused(of: head).first { index in
                state.file.entries[index].failure?.kind == error.shortDescription
            }
            if let index { _ = state.file.use(index) }
        }
    }

    /// Keeps an exchange that was sent.
    func record(_ entry: HAR.Entry) {
        var entry = entry
        if entry.isGivenUp { entry.response?.body.isTruncated = true }
        beforeRecording?(&entry)
        state.withLock { [entry] state in
            guard state.weight + entry.weight <= fileLimit else {
                state.dropped += 1
                return
            }
            state.weight += entry.weight
            state.recorded.append(entry)
        }
    }
}
