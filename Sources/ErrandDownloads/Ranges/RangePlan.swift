/// Assigns the pieces of a content to several connections. Pure; pieces are identified by number.
///
/// The missing bytes are split evenly. A connection that has finished takes half of the remaining bytes of the slowest
/// connection.
struct RangePlan {
    /// The range that one connection fetches.
    struct Piece: Sendable, Hashable {
        let id: Int
        /// The remaining range of the piece.
        var range: Range<Int64>
    }

    enum Receipt: Equatable {
        /// Write this number of the received bytes; more bytes will come.
        case more(count: Int64)
        /// The same, and the piece is complete. Further bytes of the connection belong to another piece or are not
        /// wanted: drop them.
        case last(count: Int64)
        /// The piece has ended; all these bytes are dropped.
        case none
    }

    private struct Work {
        var piece: Piece
        let since: Duration
        var received: Int64 = 0

        /// The seconds until the piece is complete at its present speed.
        func timeLeft(_ now: Duration) -> Double {
            let elapsed = max((now - since) / .seconds(1), 0.001)
            return received == 0 ? .infinity : Double(piece.range.count) * elapsed / Double(received)
        }
    }

    /// Ranges without a connection; in reverse order, so that the first range is taken first.
    private var waiting: [Range<Int64>]
    private var working: [Int: Work] = [:]
    private var lastID = 0
    /// The size below which a piece is not worth a request.
    private let smallest: Int64

    /// - Parameter missing: The ranges that are not there yet.
    /// - Parameter width: The largest number of connections.
    init(missing: ByteRangeSet, width: Int, smallest: Int64 = 1 << 20) {
        self.smallest = max(1, smallest)
        let pieces = Int64(max(1, width))
        // Rounded up without adding first, which could overflow: the length comes from the server and may be the
        // largest number.
        let share = max(missing.count / pieces + (missing.count % pieces).signum(), self.smallest)
        waiting = missing.ranges.flatMap { Self.split($0, by: share) }.reversed()
    }

    private static func split(_ range: Range<Int64>, by share: Int64) -> [Range<Int64>] {
        var (pieces, rest): ([Range<Int64>], Range<Int64>) = ([], range)
        // A remainder of at most half a share is added to the last piece.
        while Int64(rest.count) - share / 2 > share {
            pieces.append(rest.lowerBound..<rest.lowerBound + share)
            rest = rest.lowerBound + share..<rest.upperBound
        }
        return pieces + [rest]
    }

    /// No range waits and no connection works.
    var isComplete: Bool { waiting.isEmpty && working.isEmpty }
    /// The pieces that are being fetched, by number.
    var pieces: [Piece] { working.values.map(\.piece).sorted { $0.id < $1.id } }
    /// The ranges that are still to be received.
    var missing: ByteRangeSet { ByteRangeSet(waiting + working.values.map(\.piece.range)) }

    /// A connection is free; returns its next piece. `nil`: no remaining range is worth a request.
    ///
    /// - Parameter now: The time of any monotonic clock.
    mutating func assign(now: Duration) -> Piece? {
        if let range = waiting.popLast() { return begin(range, now) }
        // At least twice the smallest piece, so that both halves are worth a request.
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

    /// The position of the next bytes of the piece; `nil` if the piece has ended.
    func position(_ id: Int) -> Int64? {
        working[id]?.piece.range.lowerBound
    }

    /// `count` bytes of the piece were received.
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

    /// The connection broke or was given up: the rest of the piece waits again. Returns whether there was such a piece.
    @discardableResult
    mutating func failed(_ id: Int) -> Bool {
        guard let work = working.removeValue(forKey: id) else { return false }
        // Taken next, so that the file grows from its beginning.
        waiting.append(work.piece.range)
        waiting.sort { $0.lowerBound > $1.lowerBound }
        return true
    }
}
