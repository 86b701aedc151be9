/// Splits bytes into lines that end with LF, CR or CRLF, wherever the chunks are cut. No I/O, no waiting.
struct LineSplitter {
    private let maximumLength: Int
    private var line: [UInt8] = []
    private var chunk: [UInt8] = []
    private var index = 0
    /// What the next byte may mean.
    private var state = State.middle

    private enum State {
        case middle
        /// A line ended with CR: a following LF belongs to it, even if the LF comes with the next chunk.
        case afterCarriageReturn
    }

    init(maximumLength: Int) {
        self.maximumLength = max(0, maximumLength)
    }

    /// Takes the next chunk. All lines of the last chunk must have been read.
    mutating func push(_ chunk: [UInt8]) {
        self.chunk = chunk
        index = 0
    }

    /// The next whole line without its ending; `nil` if more bytes are needed. Throws if the line is too long.
    mutating func next() throws(TooLong) -> [UInt8]? {
        if state == .afterCarriageReturn, index < chunk.count {
            if chunk[index] == 0x0A { index += 1 }
            state = .middle
        }
        let start = index
        // Scanned through a pointer: the bounds check of a subscript takes half of the time in a stream of long lines.
        let end = chunk.withUnsafeBufferPointer { bytes in
            bytes[start...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? bytes.count
        }
        guard line.count + (end - start) <= maximumLength else { throw TooLong() }
        guard end < chunk.count else {
            line.append(contentsOf: chunk[start...])
            index = end
            return nil
        }
        if chunk[end] == 0x0D { state = .afterCarriageReturn }
        index = end + 1
        if line.isEmpty { return Array(chunk[start..<end]) }
        line.append(contentsOf: chunk[start..<end])
        defer { line = [] }
        return line
    }

    /// The last line, if it has no ending; `nil` if there is no such line.
    mutating func finish() -> [UInt8]? {
        defer { line = [] }
        return line.isEmpty ? nil : line
    }

    struct TooLong: Error {}
}
