/// Who fetches which part of a content, when several connections share the work. Pure; a piece is its number.
///
/// What is missing is split evenly; whoever is done takes a half of what the slowest has left.
struct RangePlan {
    /// What one connection is to fetch.
    struct Piece: Sendable, Hashable {
        let id: Int
        /// What is left of it.
        var range: Range<Int64>
    }

    enum Receipt: Equatable {
        /// So many bytes of what came are to be written; more is to come.
        case more(count: Int64)
        /// The same, and the piece is complete. What else the connection has is another's, or nobody's: drop it.
        case last(count: Int64)
        /// The piece is over, and all its bytes with it.
        case none
    }

    private struct Work {
        var piece: Piece
        let since: Duration
        var received: Int64 = 0

        /// Seconds until it is done at its present speed.
        func timeLeft(_ now: Duration) -> Double {
            let elapsed = max((now - since) / .seconds(1), 0.001)
            return received == 0 ? .infinity : Double(piece.range.count) * elapsed / Double(received)
        }
    }

    /// Nobody fetches these; from the end, so that the first is taken first.
    private var waiting: [Range<Int64>]
    private var working: [Int: Work] = [:]
    private var lastID = 0
    /// Smaller pieces are not worth a request.
    private let smallest: Int64

    /// - Parameter missing: What is not there yet.
    /// - Parameter width: So many connections at most.
    init(missing: ByteRangeSet, width: Int, smallest: Int64 = 1 << 20) {
        self.smallest = max(1, smallest)
        let pieces = Int64(max(1, width))
        // Rounded up without adding first: a length is the server's to say, up to the largest number there is.
        let share = max(missing.count / pieces + (missing.count % pieces).signum(), self.smallest)
        waiting = missing.ranges.flatMap { Self.split($0, by: share) }.reversed()
    }

    private static func split(_ range: Range<Int64>, by share: Int64) -> [Range<Int64>] {
        var (pieces, rest): ([Range<Int64>], Range<Int64>) = ([], range)
        // A rest that is almost a share is none of its own.
        while Int64(rest.count) - share / 2 > share {
            pieces.append(rest.lowerBound..<rest.lowerBound + share)
            rest = rest.lowerBound + share..<rest.upperBound
        }
        return pieces + [rest]
    }

    /// Nothing waits and nobody works.
    var isComplete: Bool { waiting.isEmpty && working.isEmpty }
    /// What is being fetched, by number.
    var pieces: [Piece] { working.values.map(\.piece).sorted { $0.id < $1.id } }
    /// What is still to be received.
    var missing: ByteRangeSet { ByteRangeSet(waiting + working.values.map(\.piece.range)) }

    /// A connection is free: its next piece. `nil`: there is nothing left that is worth it.
    ///
    /// - Parameter now: Of any clock that does not go back.
    mutating func assign(now: Duration) -> Piece? {
        if let range = waiting.popLast() { return begin(range, now) }
        // Twice the smallest, so that both halves are worth a request.
        let candidates = working.values.filter { $0.piece.range.count >= 2 * smallest }
        let slowest = candidates.max {
            ($0.timeLeft(now), $0.piece.range.count, $1.piece.id) < (
                $1.timeLeft(now), $1.piece.range.count, $0.piece.id
            )
        }
        guard let victim = slowest?.piece else { return nil }
        let middle = victim.range.lowerBound + Int64(victim.range.count) / 2
        working[victim.id]?.piece.range = victim.range.lowerBound..<middle
        return begin(middle..<victim.range.upperBound, now)
    }

    private mutating func begin(_ range: Range<Int64>, _ now: Duration) -> Piece {
        lastID += 1
        let piece = Piece(id: lastID, range: range)
        working[lastID] = Work(piece: piece, since: now)
        return piece
    }

    /// Where the next bytes of that piece go; `nil` where it is over.
    func position(_ id: Int) -> Int64? {
        working[id]?.piece.range.lowerBound
    }

    /// So many bytes of that piece came.
    mutating func received(_ id: Int, count: Int64) -> Receipt {
        guard var work = working[id] else { return .none }
        let range = work.piece.range
        let taken = min(max(0, count), Int64(range.count))
        guard taken < range.count else {
            working[id] = nil
            return .last(count: taken)
        }
        work.piece.range = range.lowerBound + taken..<range.upperBound
        work.received += taken
        working[id] = work
        return .more(count: taken)
    }

    /// The connection broke, or was given up: what is left of the piece waits again. Whether there was such a piece.
    @discardableResult
    mutating func failed(_ id: Int) -> Bool {
        guard let work = working.removeValue(forKey: id) else { return false }
        // Next, so that the file grows from its beginning.
        waiting.append(work.piece.range)
        waiting.sort { $0.lowerBound > $1.lowerBound }
        return true
    }
}
