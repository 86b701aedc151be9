/// Several connections that bring one content: which asks for what, and what their answers mean. Pure; the counterpart of
/// `DownloadStateMachine`, which sees all of it as one transfer.
struct RangeSharing {
    /// What a connection is to do next.
    enum Move: Equatable {
        /// Write so many of the bytes there; more is to come.
        case write(count: Int, at: Int64)
        /// The same, and the piece is complete; `isSpent`: so is its transfer, which ends by itself. Else what it would
        /// bring is another's.
        case complete(count: Int, at: Int64, isSpent: Bool)
        /// Nothing of it is wanted.
        case drop
    }

    private var plan: RangePlan
    private var working: [Int: Work] = [:]
    private let validators: DownloadValidators
    private let length: Int64
    private let policy: DownloadPolicy
    /// So many connections at most; one less for each that brought nothing.
    private(set) var width: Int
    /// Whether a byte came.
    private(set) var hasMoved = false
    /// Why the last connection was lost that brought nothing.
    private(set) var lastError: ErrandError?

    private struct Work {
        let ask: DownloadAsk
        /// Where what its answer brings ends, as the head of it says.
        var end: Int64?
        var hasMoved = false
    }

    /// `nil` where it is not worth it: nothing to tell one content from another by, or too little is missing.
    init?(
        have: ByteRangeSet, validators: DownloadValidators, length: Int64, width: Int, policy: DownloadPolicy,
        smallest: Int64 = 1 << 20
    ) {
        let missing = have.gaps(below: length)
        guard width > 1, validators.ifRange != nil, missing.count >= 2 * smallest else { return nil }
        plan = RangePlan(missing: missing, width: width, smallest: smallest)
        self.validators = validators
        self.length = length
        self.policy = policy
        self.width = width
    }

    /// What is there when all that came is written.
    var isComplete: Bool { plan.isComplete }

    /// The first piece goes to the connection that is there already, and brings what `ask` says.
    /// `end`: as its head said.
    mutating func adopt(_ ask: DownloadAsk, end: Int64? = nil, now: Duration) -> Int? {
        guard let piece = plan.assign(now: now), piece.range.lowerBound == ask.offset else { return nil }
        working[piece.id] = Work(ask: ask, end: end, hasMoved: true)
        return piece.id
    }

    /// What another connection is to ask for; `nil`: there are enough, or nothing is left that is worth one.
    mutating func next(now: Duration) -> (piece: Int, ask: DownloadAsk)? {
        guard working.count < width, let piece = plan.assign(now: now) else { return nil }
        let ask = DownloadAsk(
            transfer: 0, offset: piece.range.lowerBound, end: piece.range.upperBound, ifRange: validators.ifRange)
        working[piece.id] = Work(ask: ask)
        return (piece.id, ask)
    }

    /// What a head means to its connection: only `take`, `restart`, `retry` and `fail`.
    mutating func headArrived(_ head: DownloadHead, piece: Int) -> DownloadVerdict {
        guard let work = working[piece] else { return .fail(.internalFailure) }
        let verdict = DownloadVerdict.on(head, to: work.ask, validators: validators, length: length, policy: policy)
        // What follows it is none of the content, whatever the length of the body.
        if case .take(let end) = verdict { working[piece]?.end = end }
        switch verdict {
        // Not a part of the same content any more.
        case .takeFromZero, .complete, .restart: return .restart
        case .take, .retry, .fail: return verdict
        }
    }

    mutating func chunkArrived(_ piece: Int, count: Int) -> Move {
        guard let work = working[piece], let position = plan.position(piece) else { return .drop }
        if let end = work.end, Int64(count) > end - position { return .drop }
        hasMoved = true
        working[piece]?.hasMoved = true
        switch plan.received(piece, count: Int64(count)) {
        case .none:
            return .drop
        case .more(let count):
            return .write(count: Int(count), at: position)
        case .last(let count):
            return .complete(count: Int(count), at: position, isSpent: position + count == work.ask.end)
        }
    }

    /// The connection is free: its transfer ended, well or not, or was dropped. What is left of its piece waits again.
    mutating func ended(_ piece: Int, _ error: ErrandError?) {
        guard let work = working.removeValue(forKey: piece) else { return }
        let isUnfinished = plan.failed(piece)
        guard !work.hasMoved, isUnfinished else { return }
        // Perhaps the server wants fewer of them; and without end it is not to be tried.
        width -= 1
        lastError = error ?? .partialBody
    }
}
