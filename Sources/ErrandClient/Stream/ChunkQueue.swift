import DequeModule

/// Chunks of a body that were not read yet, oldest first. Small chunks are merged: a server that sends one byte per
/// packet would otherwise cost a hundred times as much as its bytes.
struct ChunkQueue {
    /// A chunk of at least this size is not merged: it stays in the engine's memory until it is read.
    static let leastWhole = 4096
    /// Small chunks are merged up to this size.
    static let mostMerged = 16384

    private var pieces: Deque<BodyPiece> = []
    /// Small chunks, newer than all of `pieces`.
    private var tail: [UInt8] = []
    /// The number of bytes.
    private(set) var count = 0

    var isEmpty: Bool { pieces.isEmpty && tail.isEmpty }

    mutating func append(_ chunk: Response) {
        let size = chunk.body.count
        guard size > 0 else { return }
        count += size
        if size >= Self.leastWhole {
            flush()
            pieces.append(.chunk(chunk))
        } else {
            if tail.count + size > Self.mostMerged { flush() }
            chunk.body.withBytes { tail.append(contentsOf: $0) }
        }
    }

    /// Removes and returns the oldest bytes; `nil` if there are none.
    mutating func popFirst() -> BodyPiece? {
        guard let piece = pieces.popFirst() else {
            guard !tail.isEmpty else { return nil }
            defer { tail = [] }
            count -= tail.count
            return .merged(tail)
        }
        count -= piece.count
        return piece
    }

    /// A copy of all bytes.
    var bytes: [UInt8] {
        var all: [UInt8] = []
        all.reserveCapacity(count)
        for piece in pieces { all += piece.bytes }
        return all + tail
    }

    private mutating func flush() {
        guard !tail.isEmpty else { return }
        pieces.append(.merged(tail))
        tail = []
    }
}
