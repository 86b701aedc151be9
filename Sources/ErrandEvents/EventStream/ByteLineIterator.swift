/// Pulls chunks and returns lines of bytes: the common part of ``LineSequence`` and ``JSONLinesSequence``.
struct ByteLineIterator<Base: AsyncIteratorProtocol> where Base.Element == [UInt8] {
    private var base: Base
    private let maximumLength: Int
    private var splitter: LineSplitter
    private var isAtEnd = false
    /// The number of the last returned line, counted from 1.
    private(set) var number = 0

    init(_ base: Base, maximumLength: Int) {
        self.base = base
        self.maximumLength = maximumLength
        self.splitter = LineSplitter(maximumLength: maximumLength)
    }

    /// The next line; `nil` at the end and after an error.
    mutating func next(isolation actor: isolated (any Actor)?) async throws -> [UInt8]? {
        while !isAtEnd {
            do throws(LineSplitter.TooLong) {
                if let line = try splitter.next() {
                    number += 1
                    return withoutMark(line)
                }
            } catch {
                isAtEnd = true
                throw ErrandError.limitBodyBytes.with(
                    message: "line \(number + 1) is longer than \(maximumLength) bytes")
            }
            do {
                if let chunk = try await base.next(isolation: actor) {
                    splitter.push(chunk)
                    continue
                }
            } catch {
                isAtEnd = true
                throw error
            }
            isAtEnd = true
            if let line = splitter.finish() {
                number += 1
                let text = withoutMark(line)
                // A stream that contains only a byte order mark has no line.
                return text.isEmpty ? nil : text
            }
        }
        return nil
    }

    /// Removes the byte order mark from the stream's first line; some senders write one before UTF-8 (RFC 3629 6).
    private func withoutMark(_ line: [UInt8]) -> [UInt8] {
        number == 1 && line.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(line.dropFirst(3)) : line
    }

    /// Ends the lines.
    mutating func stop() {
        isAtEnd = true
    }
}
