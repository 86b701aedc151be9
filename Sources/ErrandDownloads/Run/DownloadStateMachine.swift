/// The life of one download over all its transfers: pure, takes past events, answers with one order.
///
/// ```
/// idle -> asking -> receiving (-> sharing) -> (asking ...) -> verifying -> installing -> ended
///            \-> waiting -> asking       held: paused, no transfer       any -> ended
/// ```
///
/// The disk is the shell's, and so quick that it does what an action says before it tells the next event; a disk that
/// refuses is an event of its own. Random numbers come with the events; the clock is the shell's.
struct DownloadStateMachine: ~Copyable {
    /// Any but `none`, `write`, `take`, `takeFromZero`, `hold` and `release` ends the transfer and the timer that are
    /// under way, if any; the machine ignores what such a transfer still tells.
    enum Action: Equatable {
        case none
        /// Send it.
        case request(DownloadAsk)
        /// Empty the part and its journal, then send it.
        case restart(DownloadAsk)
        /// The body is wanted. Note in the journal whose bytes these are.
        case take(DownloadValidators, length: Int64?)
        /// Empty the part and its journal, then the same.
        case takeFromZero(DownloadValidators, length: Int64?)
        /// Write the chunk there.
        case write(at: Int64)
        /// Let the transfer of that number bring no more bytes for now, and sync.
        case hold(Int)
        /// Let it go on.
        case release(Int)
        /// Sync; tell `retryTimerFired` after that time.
        case wait(Duration)
        /// Sync; nothing happens until it is resumed or stopped.
        case rest
        /// Sync, compare the digest of the whole part, tell `digestChecked`.
        case verify
        /// Sync and put the file in place; tell `installed`.
        case install
        case complete
        /// Sync, keep the part, and tell that it was cancelled.
        case stop
        /// Sync as far as it goes, keep the part, and tell the error.
        case fail(ErrandError)
        /// Remove the part, for nothing good can come of it, and tell the error.
        case discard(ErrandError)
    }

    /// How several connections at once have fared.
    enum Sharing {
        case untried
        case tried
        /// It had to begin from zero after that: the servers behind one name may differ in their tags, or one of them knows
        /// no ranges. One connection is to bring it, or the restarts would be used up by the same again.
        case contradicted
    }

    /// What is known over all transfers.
    struct Run: Equatable {
        /// Number of the last transfer.
        var transfer = 0
        var isPaused = false
        /// In a row, without a byte between them.
        var failures = 0
        var restarts = 0
        /// Whether bytes of several transfers were put together.
        var isJoined = false
        var validators = DownloadValidators()
        var length: Int64?
        /// In the part, but for what the present transfer brings.
        var have = ByteRangeSet()
        var sharing = Sharing.untried

        /// The first stretch that is missing, its end `nil` where it is the content's; `nil`: nothing is missing.
        var gap: (offset: Int64, end: Int64?)? {
            let offset = have.prefixEnd
            if let length, offset >= length { return nil }
            return (offset, have.ranges.first { $0.lowerBound > offset }?.lowerBound)
        }

        /// Nothing is there, and nothing known of the content, any more.
        mutating func reset() {
            validators = DownloadValidators()
            length = nil
            have = ByteRangeSet()
            isJoined = false
        }
    }

    /// What the present transfer has brought.
    struct Receipt: Equatable {
        let start: Int64
        /// Where the next byte goes.
        var offset: Int64
        /// Behind the body's last byte; `nil`: not known.
        let end: Int64?
    }

    enum Ending: Equatable {
        case completed
        case stopped
        case failed(ErrandError)
    }

    enum State: Equatable {
        case idle
        /// A request is under way, its head has not come.
        case asking(Run, DownloadAsk)
        /// A body is coming.
        case receiving(Run, Receipt)
        /// The body's transfer has become one of several that bring what is missing; ``RangeSharing`` knows which.
        case sharing(Run)
        /// Until the next try.
        case waiting(Run)
        /// Paused, and no transfer is under way.
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

    /// `found`: the journal of an earlier run, with what is in the part for sure.
    mutating func started(found: DownloadJournal? = nil) -> Action {
        // A download is started once; its next run is another one, with what this one's journal says.
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
        // Else: the head of a transfer that was given up.
        guard case .asking(var run, let ask) = state, ask.transfer == transfer else { return .none }
        let verdict = DownloadVerdict.on(
            head, to: ask, validators: run.validators, length: run.length, policy: policy)
        switch verdict {
        case .take(let end):
            // Those of the first response: a 206 need not repeat them, and its Date is later.
            if run.have.isEmpty || run.validators == DownloadValidators() { run.validators = head.validators }
            run.length = run.length ?? head.total
            state = .receiving(run, Receipt(start: ask.offset, offset: ask.offset, end: end))
            return .take(run.validators, length: run.length)
        case .takeFromZero(let end):
            let error = ErrandError.malformedResponse.with(message: "the content does not stay the same")
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
            return restart(&run, .malformedResponse.with(message: "the server sends other bytes than it was asked for"))
        case .retry(let delay, let error):
            return failed(&run, error, leastWait: delay, random)
        case .fail(let error):
            return fail(error)
        }
    }

    /// So many bytes of the body came.
    mutating func chunkArrived(count: Int, transfer: Int) -> Action {
        // Else: what was on its way when the transfer was given up.
        guard case .receiving(var run, var receipt) = state, run.transfer == transfer, count > 0 else { return .none }
        guard Int64(count) <= (receipt.end ?? policy.expectedLength ?? .max) - receipt.offset else {
            let error = ErrandError.lengthMismatch.with(message: "more bytes came than were promised")
            // A part that is longer than it says may be of anything. Kept, the next run would end with the same.
            return run.isJoined ? restart(&run, error) : fail(error)
        }
        let offset = receipt.offset
        receipt.offset += Int64(count)
        run.failures = 0
        state = .receiving(run, receipt)
        return .write(at: offset)
    }

    /// The transfer came to its end without an error.
    mutating func transferEnded(transfer: Int, random: Double) -> Action {
        guard var run = closing(transfer) else { return .none }
        guard case .receiving(_, let receipt) = state else {
            return failed(&run, .malformedResponse, leastWait: nil, random)
        }
        if let end = receipt.end, receipt.offset < end {
            return failed(
                &run, .partialBody.with(message: "the body ended \(end - receipt.offset) bytes too early"),
                leastWait: nil, random)
        }
        // Neither length nor range: the end is where the transfer ends.
        if receipt.end == nil { run.length = receipt.offset }
        return run.isPaused ? rest(run) : proceed(&run)
    }

    mutating func transferFailed(
        _ error: ErrandError, isRetryable: Bool, transfer: Int, random: Double
    ) -> Action {
        // Else: the ending of a transfer that was given up.
        guard var run = closing(transfer) else { return .none }
        return isRetryable ? failed(&run, error, leastWait: nil, random) : fail(error)
    }

    /// What is missing is to come over several connections from here on. Answers whether it may.
    mutating func sharingBegan() -> Bool {
        guard case .receiving(var run, let receipt) = state, receipt.offset == receipt.start, run.length != nil,
            run.sharing != .contradicted
        else { return false }
        run.sharing = .tried
        state = .sharing(run)
        return true
    }

    /// No connection is left: everything came, or `error` ended the last of them. `have` is in the part; `hasMoved`:
    /// some of it came since they began.
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

    /// One of the connections brings another content than the others.
    mutating func sharingContradicted() -> Action {
        guard case .sharing(var run) = state else { return .none }
        return restart(&run, .malformedResponse.with(message: "the content does not stay the same"))
    }

    mutating func retryTimerFired() -> Action {
        // Else: it fired while it was being cancelled.
        guard case .waiting(var run) = state else { return .none }
        return proceed(&run)
    }

    mutating func pauseRequested() -> Action {
        switch state {
        case .asking(var run, let ask) where !run.isPaused:
            run.isPaused = true
            state = .asking(run, ask)
            return .hold(run.transfer)
        case .receiving(var run, let receipt) where !run.isPaused:
            run.isPaused = true
            state = .receiving(run, receipt)
            return .hold(run.transfer)
        case .sharing(var run) where !run.isPaused:
            run.isPaused = true
            state = .sharing(run)
            return .hold(run.transfer)
        case .waiting(var run):
            run.isPaused = true
            return rest(run)
        case .idle, .asking, .receiving, .sharing, .held, .verifying, .installing, .ended:
            // Nothing runs, or it is paused already, or no byte is left to hold back.
            return .none
        }
    }

    mutating func resumeRequested() -> Action {
        switch state {
        case .asking(var run, let ask) where run.isPaused:
            run.isPaused = false
            state = .asking(run, ask)
            return .release(run.transfer)
        case .receiving(var run, let receipt) where run.isPaused:
            run.isPaused = false
            state = .receiving(run, receipt)
            return .release(run.transfer)
        case .sharing(var run) where run.isPaused:
            run.isPaused = false
            state = .sharing(run)
            return .release(run.transfer)
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
            // The file is being put in place, or has been: the outcome is told in a moment.
            return .none
        }
    }

    /// The disk refused what the last action said, the part could not be opened, the time for it all is up, or the client
    /// is shut down.
    mutating func gaveUp(_ error: ErrandError) -> Action {
        switch state {
        case .idle, .asking, .receiving, .sharing, .waiting, .held, .verifying, .installing:
            return fail(error)
        case .ended:
            // The last sync of a download that has ended: its outcome stands.
            return .none
        }
    }

    mutating func digestChecked(matches: Bool) -> Action {
        // Else: stopped while it was being computed.
        guard case .verifying(var run) = state else { return .none }
        if matches {
            state = .installing
            return .install
        }
        let error = ErrandError.digestMismatch
        // Perhaps the server joined two contents under one validator. Once from zero, then it is the content itself.
        if run.isJoined, run.restarts < policy.maximumRestarts { return restart(&run, error) }
        state = .ended(.failed(error))
        return .discard(error)
    }

    mutating func installed() -> Action {
        guard case .installing = state else { return .none }
        state = .ended(.completed)
        return .complete
    }

    /// Bytes that are in the part or were ordered to be written.
    var received: Int64 {
        switch state {
        case .idle, .installing, .ended: 0
        case .asking(let run, _), .sharing(let run), .waiting(let run), .held(let run), .verifying(let run):
            run.have.count
        case .receiving(let run, let receipt): run.have.count + receipt.offset - receipt.start
        }
    }

    /// Whether no byte is wanted until it is resumed.
    var isPaused: Bool {
        switch state {
        case .asking(let run, _), .receiving(let run, _), .sharing(let run), .waiting(let run), .held(let run),
            .verifying(let run):
            run.isPaused
        case .idle, .installing, .ended:
            false
        }
    }

    /// The run of that transfer with what it brought; `nil` where it is not the present one.
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

    /// The next request, or what comes after the last.
    private mutating func proceed(_ run: inout Run) -> Action {
        guard run.gap != nil else { return finish(run) }
        guard run.have.isEmpty || mayResume(run) else {
            return restart(
                &run, .partialBody.with(message: "the download broke, and the server gives no means to resume"))
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
            // What an earlier head said of a content of which no byte came.
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
