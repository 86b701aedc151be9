/// Cuts bytes into lines ended by LF, CR or CRLF, wherever the borders of the chunks fall. No I/O, no waiting.
struct LineSplitter {
    private let maximumLength: Int
    private var line: [UInt8] = []
    private var chunk: [UInt8] = []
    private var index = 0
    /// What may still be done with the input.
    private var state = State.middle

    private enum State {
        case middle
        /// A line ended with CR: a LF that follows belongs to it, though it may come with the next chunk.
        case afterCarriageReturn
    }

    init(maximumLength: Int) {
        self.maximumLength = max(0, maximumLength)
    }

    /// Takes the next chunk. All lines of the last one must have been read.
    mutating func push(_ chunk: [UInt8]) {
        self.chunk = chunk
        index = 0
    }

    /// The next whole line without its end; `nil` where more bytes are needed. Throws where it is too long.
    mutating func next() throws(TooLong) -> [UInt8]? {
        if state == .afterCarriageReturn, index < chunk.count {
            if chunk[index] == 0x0A { index += 1 }
            state = .middle
        }
        let start = index
        // Scanned through a pointer: a subscript's check for each byte is half of the time in a stream of long lines.
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

    /// The last line where it has no end; `nil` where there is none.
    mutating func finish() -> [UInt8]? {
        defer { line = [] }
        return line.isEmpty ? nil : line
    }

    struct TooLong: Error {}
}
