import ErrandTesting

/// Bytes in chunks, as a body's stream gives them; fails at the end where it is told to.
struct ChunkedBytes: AsyncSequence, Sendable {
    typealias Element = [UInt8]

    var chunks: [[UInt8]]
    var failure: (any Error & Sendable)?

    init(_ chunks: [[UInt8]], failure: (any Error & Sendable)? = nil) {
        self.chunks = chunks
        self.failure = failure
    }

    /// Cut where the dice fall, empty chunks included.
    init(_ text: some Sequence<UInt8>, cutBy generator: inout SeededGenerator) {
        var chunks: [[UInt8]] = [[]]
        for byte in text {
            while Int.random(in: 0..<4, using: &generator) == 0 { chunks.append([]) }
            chunks[chunks.count - 1].append(byte)
        }
        self.init(chunks)
    }

    func makeAsyncIterator() -> Iterator {
        Iterator(rest: chunks[...], failure: failure)
    }

    struct Iterator: AsyncIteratorProtocol {
        var rest: ArraySlice<[UInt8]>
        var failure: (any Error & Sendable)?

        mutating func next() async throws -> [UInt8]? {
            if let chunk = rest.popFirst() { return chunk }
            if let failure { throw failure }
            return nil
        }
    }
}

extension AsyncSequence {
    /// All of them.
    func collected() async throws -> [Element] {
        var all: [Element] = []
        for try await element in self { all.append(element) }
        return all
    }
}
