public import FoundationEssentials

/// The values of a stream with one JSON text per line (JSON Lines, NDJSON).
///
/// ```swift
/// for try await entry in chunks.jsonLines(of: Entry.self) { ... }
/// ```
///
/// Blank lines are skipped. A line that does not decode throws ``ErrandError/responseDecodingFailed``, whose underlying
/// ``JSONLineError`` has the line's number. The next call continues with the next line. A line that is too long, and an
/// error of the base, end the stream as with ``LineSequence``.
public struct JSONLinesSequence<Base: AsyncSequence, Value: Decodable>: AsyncSequence where Base.Element == [UInt8] {
    /// One value.
    public typealias Element = Value

    private let base: Base
    private let maximumLength: Int
    private let decoder: JSONDecoder

    /// Reads lines of `maximumLength` bytes at most, 1 MiB by default; `decoder` defaults to Foundation's own settings.
    public init(_ base: Base, of type: Value.Type, using decoder: JSONDecoder? = nil, maximumLength: Int = 1 << 20) {
        self.base = base
        self.maximumLength = maximumLength
        self.decoder = decoder ?? SharedCoders.jsonDecoder
    }

    /// Starts to read.
    public func makeAsyncIterator() -> Iterator {
        Iterator(lines: ByteLineIterator(base.makeAsyncIterator(), maximumLength: maximumLength), decoder: decoder)
    }

    /// Reads value by value.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var lines: ByteLineIterator<Base.AsyncIterator>
        fileprivate let decoder: JSONDecoder

        /// The next value; `nil` at the end.
        public mutating func next() async throws -> Value? {
            try await next(isolation: nil)
        }

        /// The next value; `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Value? {
            while let line = try await lines.next(isolation: actor) {
                if line.allSatisfy(FieldTokens.isBlank) { continue }
                do {
                    return try JSONReader.value(Value.self, from: Data(line), using: decoder)
                } catch {
                    throw ErrandError.responseDecodingFailed.with(
                        message: "line \(lines.number) is not a JSON \(Value.self): \(error)",
                        underlying: JSONLineError(lineNumber: lines.number, underlyingError: error))
                }
            }
            return nil
        }
    }
}

extension JSONLinesSequence: Sendable where Base: Sendable {}

extension AsyncSequence where Element == [UInt8] {
    /// The JSON values of these bytes, one per line, with the defaults of ``JSONLinesSequence``.
    public func jsonLines<Value: Decodable>(
        of type: Value.Type, using decoder: JSONDecoder? = nil
    ) -> JSONLinesSequence<Self, Value> {
        JSONLinesSequence(self, of: type, using: decoder)
    }
}

/// Which line of a ``JSONLinesSequence`` did not decode, and why.
public struct JSONLineError: Error {
    /// Counted from 1, blank lines included.
    public let lineNumber: Int
    /// The error that the decoder threw.
    public let underlyingError: any Error
}
