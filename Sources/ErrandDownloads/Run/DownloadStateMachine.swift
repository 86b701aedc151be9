/// The states of one download over all its transfers. Pure: takes events in the past tense and returns one action.
///
/// ```
/// idle -> asking -> receiving (-> sharing) -> (asking ...) -> verifying -> installing -> ended
///            \-> waiting -> asking       held: paused, no transfer       any -> ended
/// ```
///
/// The shell writes to the disk, and finishes an action before it passes the next event. A disk error is a separate
/// event. The shell passes random numbers with the events, and has the clock.
struct DownloadStateMachine: ~Copyable {
    /// Every action except `none`, `write`, `take`, `takeFromZero`, `hold` and `release` ends the transfer and the
    /// timer in progress, if any. The machine ignores later events of that transfer.
    enum Action: Equatable {
        case none
        /// Send this request.
        case request(DownloadAsk)
        /// Empty the part and its journal, then send this request.
        case restart(DownloadAsk)
        /// Accept the body. Record in the journal to which content the bytes belong.
        case take(DownloadValidators, length: Int64?)
        /// Empty the part and its journal, then do as for `take`.
        case takeFromZero(DownloadValidators, length: Int64?)
        /// Write the chunk at this position.
        case write(at: Int64)
        /// Pause the transfers, and sync.
        case hold
        /// Resume the transfers.
        case release
        /// Sync; call `retryTimerFired` after this time.
        case wait(Duration)
        /// Sync; the download rests until it is resumed or stopped.
        case rest
        /// Sync, compare the digest of the whole part, then call `digestChecked`.
        case verify
        /// Sync and put the file in place, then call `installed`.
        case install
        case complete
        /// Sync, keep the part, and report that the download was cancelled.
        case stop
        /// Sync as far as possible, keep the part, and report the error.
        case fail(ErrandError)
        /// Remove the part, because it cannot be completed, and report the error.
        case discard(ErrandError)
    }

    /// Whether several connections have been tried, and with what outcome.
    enum Sharing {
        case untried
        case tried
        /// The download had to start from zero after sharing: the servers behind one name may send different tags, or
        /// one of them does not support ranges. Only one connection is used from then on; otherwise the same
        /// contradiction would use up the restarts.
        case contradicted
    }

    /// The facts that outlive a transfer.
    struct Run: Equatable {
        /// The number of the last transfer.
        var transfer = 0
        var isPaused = false
        /// The failures in a row, without a byte between them.
        var failures = 0
        var restarts = 0
        /// Whether bytes of several transfers were joined.
        var isJoined = false
        var validators = DownloadValidators()
        var length: Int64?
        /// The ranges in the part, without the bytes of the present transfer.
        var have = ByteRangeSet()
        var sharing = Sharing.untried

        /// The first missing range; its end is `nil` if the range goes to the end of the content. `nil`: nothing is
        /// missing.
        var gap: (offset: Int64, end: Int64?)? {
            let offset = have.prefixEnd
            if let length, offset >= length { return nil }
            return (offset, have.ranges.first { $0.lowerBound > offset }?.lowerBound)
        }

        /// Forgets the received ranges and the facts about the content.
        mutating func reset() {
            validators = DownloadValidators()
            length = nil
            have = ByteRangeSet()
            isJoined = false
        }
    }

    /// The bytes of the present transfer.
    struct Receipt: Equatable {
        let start: Int64
        /// The position of the next byte.
        var offset: Int64
        /// The position behind the body's last byte; `nil`: not known.
        let end: Int64?
    }

    enum Ending: Equatable {
        case completed
        case stopped
        case failed(ErrandError)
    }

    enum State: Equatable {
        case idle
        /// A request is in flight; its head has not arrived.
        case asking(Run, DownloadAsk)
        /// A body is being received.
        case receiving(Run, Receipt)
        /// The transfer has become one of several that fetch the missing ranges; ``RangeSharing`` tracks them.
        case sharing(Run)
        /// The timer of the next try runs.
        case waiting(Run)
        /// Paused without a transfer.
        case held(Run)
        case verifying(Run)
        case installing
        case ended(Ending)
    }

    private(set) var state: State
    private let policy: DownloadPolicy

    init(policy: DownloadPolicy, state: State = .idle) {
        self.policy = policy
        self.state = state
    }

    /// `found`: the journal of an earlier run, with the ranges that are safe in the part.
    mutating func started(found: DownloadJournal? = nil) -> Action {
        // A download is started only once; the next run is a new machine that starts from the journal of this one.
        guard case .idle = state else { return .none }
        var run = Run()
        guard let found, !found.safe.isEmpty else { return request(&run) }
        run.validators = found.validators
        run.length = found.length
        run.have = found.safe
        run.isJoined = true
        let isOther = DownloadVerdict.mismatch(found.length, policy) != nil
        let isLonger = found.safe.end > min(policy.expectedLength ?? .max, found.length ?? .max)
        if isOther || isLonger || !mayResume(run) {
            run.reset()
            return .restart(ask(&run))
        }
        return proceed(&run)
    }

    mutating func headArrived(_ head: DownloadHead, transfer: Int, random: Double) -> Action {
        // Otherwise the head belongs to a transfer that was given up.
        guard case .asking(var run, let ask) = state, ask.transfer == transfer else { return .none }
        let verdict = DownloadVerdict.on(
            head, to: ask, validators: run.validators, length: run.length, policy: policy)
        switch verdict {
        case .take(let end):
            // Keeps the validators of the first response: a 206 need not repeat them, and its Date is later.
            if run.have.isEmpty || run.validators == DownloadValidators() { run.validators = head.validators }
            run.length = run.length ?? head.total
            state = .receiving(run, Receipt(start: ask.offset, offset: ask.offset, end: end))
            return .take(run.validators, length: run.length)
        case .takeFromZero(let end):
            let error = ErrandError.malformedResponse.with(message: "the server's content changed between transfers")
            guard countRestart(&run) else { return fail(error) }
            run.reset()
            run.validators = head.validators
            run.length = head.total
            state = .receiving(run, Receipt(start: 0, offset: 0, end: end))
            return .takeFromZero(run.validators, length: run.length)
        case .complete:
            run.length = ask.offset
            return finish(run)
        case .restart:
            return restart(&run, .malformedResponse.with(message: "the server sent another range than requested"))
        case .retry(let delay, let error):
            return failed(&run, error, leastWait: delay, random)
        case .fail(let error):
            return fail(error)
        }
    }

    /// `count` bytes of the body were received.
    mutating func chunkArrived(count: Int, transfer: Int) -> Action {
        // Otherwise the chunk was in transit when the transfer was given up.
        guard case .receiving(var run, var receipt) = state, run.transfer == transfer, count > 0 else { return .none }
        guard Int64(count) <= (receipt.end ?? policy.expectedLength ?? .max) - receipt.offset else {
            let error = ErrandError.lengthMismatch.with(message: "the body is longer than the announced length")
            // A part that is longer than announced may contain any content. If it were kept, the next run would fail in
            // the same way.
            return run.isJoined ? restart(&run, error) : fail(error)
        }
        let offset = receipt.offset
        receipt.offset += Int64(count)
        run.failures = 0
        state = .receiving(run, receipt)
        return .write(at: offset)
    }

    /// The transfer ended without an error.
    mutating func transferEnded(transfer: Int, random: Double) -> Action {
        guard var run = closing(transfer) else { return .none }
        guard case .receiving(_, let receipt) = state else {
            return failed(&run, .malformedResponse, leastWait: nil, random)
        }
        if let end = receipt.end, receipt.offset < end {
            return failed(
                &run, .partialBody.with(message: "the body ended at byte \(receipt.offset), expected \(end)"),
                leastWait: nil, random)
        }
        // There was neither a length nor a range: the content ends where the transfer ends.
        if receipt.end == nil { run.length = receipt.offset }
        return run.isPaused ? rest(run) : proceed(&run)
    }

    mutating func transferFailed(
        _ error: ErrandError, isRetryable: Bool, transfer: Int, random: Double
    ) -> Action {
        // Otherwise the end belongs to a transfer that was given up.
        guard var run = closing(transfer) else { return .none }
        return isRetryable ? failed(&run, error, leastWait: nil, random) : fail(error)
    }

    /// The missing ranges are to be fetched over several connections from now on. Returns whether that is allowed.
    mutating func sharingBegan() -> Bool {
        guard case .receiving(var run, let receipt) = state, receipt.offset == receipt.start, run.length != nil,
            run.sharing != .contradicted
        else { return false }
        run.sharing = .tried
        state = .sharing(run)
        return true
    }

    /// No connection is left: all bytes were received, or `error` ended the last connection. `have` is in the part;
    /// `hasMoved`: some bytes were received since sharing began.
    mutating func sharingEnded(
        have: ByteRangeSet, hasMoved: Bool, _ error: ErrandError?, isRetryable: Bool, random: Double
    ) -> Action {
        guard case .sharing(var run) = state else { return .none }
        run.have = have
        run.isJoined = true
        if hasMoved { run.failures = 0 }
        if let error { return isRetryable ? failed(&run, error, leastWait: nil, random) : fail(error) }
        return run.isPaused ? rest(run) : proceed(&run)
    }

    /// One of the connections delivers another content than the others.
    mutating func sharingContradicted() -> Action {
        guard case .sharing(var run) = state else { return .none }
        return restart(&run, .malformedResponse.with(message: "the server's content changed between transfers"))
    }

    mutating func retryTimerFired() -> Action {
        // Otherwise the timer fired while it was being cancelled.
        guard case .waiting(var run) = state else { return .none }
        return proceed(&run)
    }

    mutating func pauseRequested() -> Action {
        switch state {
        case .asking(var run, let ask) where !run.isPaused:
            run.isPaused = true
            state = .asking(run, ask)
            return .hold
        case .receiving(var run, let receipt) where !run.isPaused:
            run.isPaused = true
            state = .receiving(run, receipt)
            return .hold
        case .sharing(var run) where !run.isPaused:
            run.isPaused = true
            state = .sharing(run)
            return .hold
        case .waiting(var run):
            run.isPaused = true
            return rest(run)
        case .idle, .asking, .receiving, .sharing, .held, .verifying, .installing, .ended:
            // Nothing runs, the download is paused already, or there are no bytes left to hold back.
            return .none
        }
    }

    mutating func resumeRequested() -> Action {
        switch state {
        case .asking(var run, let ask) where run.isPaused:
            run.isPaused = false
            state = .asking(run, ask)
            return .release
        case .receiving(var run, let receipt) where run.isPaused:
            run.isPaused = false
            state = .receiving(run, receipt)
            return .release
        case .sharing(var run) where run.isPaused:
            run.isPaused = false
            state = .sharing(run)
            return .release
        case .held(var run):
            run.isPaused = false
            return proceed(&run)
        case .idle, .asking, .receiving, .sharing, .waiting, .verifying, .installing, .ended:
            return .none
        }
    }

    mutating func stopRequested() -> Action {
        switch state {
        case .idle, .asking, .receiving, .sharing, .waiting, .held, .verifying:
            state = .ended(.stopped)
            return .stop
        case .installing, .ended:
            // The file is being put in place, or has been: the outcome is reported in a moment.
            return .none
        }
    }

    /// The disk refused the last action, the part could not be opened, the total timeout fired, or the client was shut
    /// down.
    mutating func gaveUp(_ error: ErrandError) -> Action {
        switch state {
        case .idle, .asking, .receiving, .sharing, .waiting, .held, .verifying, .installing:
            return fail(error)
        case .ended:
            // This was the last sync of a download that has ended. Its outcome does not change.
            return .none
        }
    }

    mutating func digestChecked(matches: Bool) -> Action {
        // Otherwise the download was stopped while the digest was being computed.
        guard case .verifying(var run) = state else { return .none }
        if matches {
            state = .installing
            return .install
        }
        let error = ErrandError.digestMismatch
        // The server may have sent two contents with one validator. The download then starts from zero. If all bytes
        // came from a single transfer, the content itself is wrong.
        if run.isJoined, run.restarts < policy.maximumRestarts { return restart(&run, error) }
        state = .ended(.failed(error))
        return .discard(error)
    }

    mutating func installed() -> Action {
        guard case .installing = state else { return .none }
        state = .ended(.completed)
        return .complete
    }

    /// The number of bytes that are in the part or were ordered to be written.
    var received: Int64 {
        switch state {
        case .idle, .installing, .ended: 0
        case .asking(let run, _), .sharing(let run), .waiting(let run), .held(let run), .verifying(let run):
            run.have.count
        case .receiving(let run, let receipt): run.have.count + receipt.offset - receipt.start
        }
    }

    /// Whether the download is paused and wants no bytes.
    var isPaused: Bool {
        switch state {
        case .asking(let run, _), .receiving(let run, _), .sharing(let run), .waiting(let run), .held(let run),
            .verifying(let run):
            run.isPaused
        case .idle, .installing, .ended:
            false
        }
    }

    /// The run with the bytes of the given transfer; `nil` if that is not the present transfer.
    private func closing(_ transfer: Int) -> Run? {
        switch state {
        case .asking(let run, _) where run.transfer == transfer:
            return run
        case .receiving(var run, let receipt) where run.transfer == transfer:
            run.have.insert(receipt.start..<receipt.offset)
            return run
        case .idle, .asking, .receiving, .sharing, .waiting, .held, .verifying, .installing, .ended:
            return nil
        }
    }

    private func mayResume(_ run: Run) -> Bool {
        if run.validators == .ofEncoded { return run.gap == nil }
        return policy.resumesWithoutValidator || run.validators.ifRange != nil || run.gap == nil
    }

    /// The next request, or the step after the last one.
    private mutating func proceed(_ run: inout Run) -> Action {
        guard run.gap != nil else { return finish(run) }
        guard run.have.isEmpty || mayResume(run) else {
            return restart(
                &run,
                .partialBody.with(message: "the transfer ended early, and the server does not support resuming it"))
        }
        return request(&run)
    }

    private mutating func request(_ run: inout Run) -> Action {
        .request(ask(&run))
    }

    private mutating func ask(_ run: inout Run) -> DownloadAsk {
        run.transfer += 1
        var ask = DownloadAsk(transfer: run.transfer)
        if !run.have.isEmpty, let gap = run.gap {
            (ask.offset, ask.end) = gap
            ask.ifRange = run.validators.ifRange
            run.isJoined = true
        } else {
            // Forgets the facts from an earlier head, because no byte of its content was received.
            run.reset()
        }
        state = .asking(run, ask)
        return ask
    }

    private func countRestart(_ run: inout Run) -> Bool {
        run.restarts += 1
        if run.sharing == .tried { run.sharing = .contradicted }
        return run.restarts <= policy.maximumRestarts
    }

    private mutating func restart(_ run: inout Run, _ error: ErrandError) -> Action {
        guard countRestart(&run) else { return fail(error) }
        run.reset()
        return .restart(ask(&run))
    }

    private mutating func failed(
        _ run: inout Run, _ error: ErrandError, leastWait: Duration?, _ random: Double
    ) -> Action {
        run.failures += 1
        guard run.failures <= policy.maximumFailures else { return fail(error) }
        if run.isPaused { return rest(run) }
        state = .waiting(run)
        return .wait(policy.delay(failures: run.failures, leastByServer: leastWait, random: random))
    }

    private mutating func rest(_ run: Run) -> Action {
        state = .held(run)
        return .rest
    }

    private mutating func finish(_ run: Run) -> Action {
        if let mismatch = DownloadVerdict.mismatch(run.length, policy) { return fail(mismatch) }
        state = policy.checksDigest ? .verifying(run) : .installing
        return policy.checksDigest ? .verify : .install
    }

    private mutating func fail(_ error: ErrandError) -> Action {
        state = .ended(.failed(error))
        return .fail(error)
    }
}
