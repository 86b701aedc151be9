/// The lines of a stream of bytes, as the bytes arrive.
///
/// ```swift
/// for try await line in chunks.lines { ... }
/// ```
///
/// A line ends with LF, CR or CRLF. Neither the ending nor a byte order mark before the first line is part of a line.
/// The last line may lack an ending. The sequence pulls the base only when a line is requested, so a slow reader slows
/// the server down (backpressure). A line that is longer than allowed throws ``ErrandError/limitBodyBytes``. Errors of
/// the base are passed on. After either error the stream is at its end.
public struct LineSequence<Base: AsyncSequence>: AsyncSequence where Base.Element == [UInt8] {
    /// What to do with bytes that are not UTF-8.
    public enum InvalidText: Sendable, Hashable {
        /// Replaces them with U+FFFD.
        case repaired
        /// Throws ``ErrandError/responseDecodingFailed`` instead of returning the line.
        case refused
    }

    /// One line.
    public typealias Element = String

    private let base: Base
    private let maximumLength: Int
    private let invalidText: InvalidText

    /// Reads lines of `maximumLength` bytes at most, 1 MiB by default.
    public init(_ base: Base, maximumLength: Int = 1 << 20, invalidText: InvalidText = .repaired) {
        self.base = base
        self.maximumLength = maximumLength
        self.invalidText = invalidText
    }

    /// Starts to read.
    public func makeAsyncIterator() -> Iterator {
        Iterator(
            lines: ByteLineIterator(base.makeAsyncIterator(), maximumLength: maximumLength), invalidText: invalidText)
    }

    /// Reads line by line.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var lines: ByteLineIterator<Base.AsyncIterator>
        fileprivate let invalidText: InvalidText

        /// The next line; `nil` at the end.
        public mutating func next() async throws -> String? {
            try await next(isolation: nil)
        }

        /// The next line; `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> String? {
            guard let line = try await lines.next(isolation: actor) else { return nil }
            switch invalidText {
            case .repaired:
                return String(decoding: line, as: UTF8.self)
            case .refused:
                if let text = String(validating: line, as: UTF8.self) { return text }
                lines.stop()
                throw ErrandError.responseDecodingFailed.with(message: "line \(lines.number) is not UTF-8")
            }
        }
    }
}

extension LineSequence: Sendable where Base: Sendable {}

extension AsyncSequence where Element == [UInt8] {
    /// The lines of these bytes, with the defaults of ``LineSequence``.
    public var lines: LineSequence<Self> { LineSequence(self) }
}
