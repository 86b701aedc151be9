/// Several connections that fetch one content: which connection requests what, and what their responses mean. Pure.
/// `DownloadStateMachine` is the counterpart and sees all connections together as one transfer.
struct RangeSharing {
    /// The next step of a connection.
    enum Move: Equatable {
        /// Write this number of bytes at this position; more bytes will come.
        case write(count: Int, at: Int64)
        /// The same, and the piece is complete. `isSpent`: its transfer is complete, too, and ends by itself; otherwise
        /// further bytes of the transfer belong to another piece.
        case complete(count: Int, at: Int64, isSpent: Bool)
        /// None of the bytes are wanted.
        case drop
    }

    private var plan: RangePlan
    private var working: [Int: Work] = [:]
    private let validators: DownloadValidators
    private let length: Int64
    private let policy: DownloadPolicy
    /// The largest number of connections; reduced by one for each connection that received nothing.
    private(set) var width: Int
    /// Whether a byte was received.
    private(set) var hasMoved = false
    /// The error of the last connection that was lost without a byte.
    private(set) var lastError: ErrandError?

    /// The start positions of the missing ranges whose transfers were sent and lost.
    private var lost: Set<Int64> = []

    private struct Work {
        let ask: DownloadAsk
        /// Whether a lost transfer has requested the first of the bytes before.
        var isAgain = false
        /// The end of the bytes in the response, according to its head.
        var end: Int64?
        var hasMoved = false
    }

    /// `nil` if sharing is not worth it: there is no validator, or too few bytes are missing.
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

    /// Whether everything is there once all received bytes are written.
    var isComplete: Bool { plan.isComplete }

    /// Gives the first piece to the connection that exists already and fetches `ask`. `end`: the end according to the
    /// head of its response.
    mutating func adopt(_ ask: DownloadAsk, end: Int64? = nil, now: Duration) -> Int? {
        guard let piece = plan.assign(now: now), piece.range.lowerBound == ask.offset else { return nil }
        working[piece.id] = Work(ask: ask, end: end, hasMoved: true)
        return piece.id
    }

    /// The next request for a further connection; `nil`: there are enough connections, or no remaining range is worth
    /// one.
    mutating func next(now: Duration) -> (piece: Int, ask: DownloadAsk)? {
        guard working.count < width, let piece = plan.assign(now: now) else { return nil }
        let ask = DownloadAsk(
            transfer: 0, offset: piece.range.lowerBound, end: piece.range.upperBound, ifRange: validators.ifRange)
        working[piece.id] = Work(ask: ask, isAgain: lost.remove(ask.offset) != nil)
        return (piece.id, ask)
    }

    /// Whether the piece requests bytes that a lost transfer has requested before.
    func asksAgain(_ piece: Int) -> Bool { working[piece]?.isAgain ?? false }

    /// What a head means for its connection: only `take`, `restart`, `retry` or `fail`.
    mutating func headArrived(_ head: DownloadHead, piece: Int) -> DownloadVerdict {
        guard let work = working[piece] else { return .fail(.internalFailure) }
        let verdict = DownloadVerdict.on(head, to: work.ask, validators: validators, length: length, policy: policy)
        // Bytes after this end do not belong to the content, whatever the length of the body.
        if case .take(let end) = verdict { working[piece]?.end = end }
        switch verdict {
        // No longer a part of the same content.
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

    /// The connection is free: its transfer ended, with or without an error, or was dropped. The rest of its piece
    /// waits again. `wasSent`: whether the transfer was sent.
    mutating func ended(_ piece: Int, _ error: ErrandError?, wasSent: Bool = true) {
        guard let work = working.removeValue(forKey: piece) else { return }
        let position = plan.position(piece)
        let isUnfinished = plan.failed(piece)
        // If a repetition was not sent, the next request for its bytes is a repetition, too.
        if isUnfinished, wasSent && !(error?.isRefusal ?? false) || work.isAgain, let position { lost.insert(position) }
        guard !work.hasMoved, isUnfinished else { return }
        // The server may allow fewer connections; the reduced width also bounds the number of tries.
        width -= 1
        lastError = error ?? .partialBody
    }
}
