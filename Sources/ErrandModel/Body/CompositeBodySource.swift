/// A sequence of byte arrays and other sources.
struct CompositeBodySource: RequestBodySource {
    enum Piece: Sendable {
        case bytes([UInt8])
        case source(any RequestBodySource)

        var length: Int64? {
            switch self {
            case .bytes(let bytes): Int64(bytes.count)
            case .source(let source): source.length
            }
        }
    }

    let pieces: [Piece]
    let length: Int64?
    let isReplayable: Bool

    init(_ pieces: [Piece]) {
        self.pieces = pieces
        length = pieces.reduce(0) { sum, piece in
            guard let sum, let length = piece.length else { return nil }
            let (total, isTooMuch) = sum.addingReportingOverflow(length)
            return isTooMuch ? nil : total
        }
        isReplayable = pieces.allSatisfy { piece in
            switch piece {
            case .bytes: true
            case .source(let source): source.isReplayable
            }
        }
    }

    func open() throws -> sending any BodyReader {
        Reader(pieces)
    }

    private final class Reader: BodyReader {
        private var pieces: ArraySlice<Piece>
        /// The position in the first piece, if that is bytes.
        private var position = 0
        /// The reader of the first piece, if that is a source.
        private var reader: (any BodyReader)?

        init(_ pieces: [Piece]) {
            self.pieces = pieces[...]
        }

        func next(maximum: Int) async throws -> [UInt8]? {
            while let piece = pieces.first {
                switch piece {
                case .bytes(let bytes):
                    let end = min(bytes.count, position + max(1, maximum))
                    guard position < end else { break }
                    defer { position = end }
                    return Array(bytes[position..<end])
                case .source(let source):
                    // A source is opened when the previous pieces are read, so that a hundred files are never open at
                    // once.
                    let reader = try reader ?? LengthCheckingReader(source.open(), length: source.length)
                    self.reader = reader
                    if let bytes = try await reader.next(maximum: maximum) { return bytes }
                    close()
                }
                pieces = pieces.dropFirst()
                position = 0
            }
            return nil
        }

        func close() {
            reader?.close()
            reader = nil
        }
    }
}
