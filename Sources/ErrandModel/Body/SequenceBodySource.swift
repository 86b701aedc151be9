import Synchronization

/// The chunks of an asynchronous sequence, each sent as it arrives.
struct SequenceBodySource<S: AsyncSequence>: RequestBodySource where S.Element: Collection<UInt8> {
    let length: Int64?
    let isReplayable: Bool
    private let make: @Sendable () throws -> S

    /// `make` is called for each transfer.
    init(length: Int64?, isReplayable: Bool, _ make: @escaping @Sendable () throws -> S) {
        self.length = length
        self.isReplayable = isReplayable
        self.make = make
    }

    func open() throws -> sending any BodyReader {
        LengthCheckingReader(Reader(try make()), length: length)
    }

    private final class Reader: BodyReader {
        private var iterator: S.AsyncIterator
        /// The rest of a chunk that was larger than the last `maximum`.
        private var rest: [UInt8] = []
        private var position = 0
        private var isOver = false

        init(_ sequence: S) {
            iterator = sequence.makeAsyncIterator()
        }

        func next(maximum: Int) async throws -> [UInt8]? {
            while position == rest.count {
                if isOver { return nil }
                guard let chunk = try await iterator.next() else {
                    isOver = true
                    rest = []
                    position = 0
                    return nil
                }
                rest = Array(chunk)
                position = 0
            }
            let end = min(rest.count, position + max(1, maximum))
            defer { position = end }
            return position == 0 && end == rest.count ? rest : Array(rest[position..<end])
        }

        func close() {}
    }
}

/// Returns its sequence once.
package final class OneShot<S: Sendable>: Sendable {
    private let sequence: Mutex<S?>

    package init(_ sequence: S) {
        self.sequence = Mutex(sequence)
    }

    /// Throws ``ErrandError/uploadNotReplayable`` the second time.
    package func take() throws -> S {
        let taken = sequence.withLock { $0.take() }
        guard let taken else { throw ErrandError.uploadNotReplayable }
        return taken
    }
}
