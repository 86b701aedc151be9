/// A request body that is made while it is sent: read from a file, taken from a sequence, put together, compressed.
///
/// The engine opens a reader for each attempt, asks it for bytes only as fast as the network takes them, and closes the
/// reader. A source is a value without a position; each reader has a position. A request has one reader open at a time:
/// after a redirect, a replay, a retry or a restart it opens the next reader when the previous one is closed. The attempts
/// of a hedged request, and requests that share a source, have one reader each.
public protocol RequestBodySource: Sendable {
    /// The total number of bytes, which a reader must provide exactly: any other number is ``ErrandError/invalidBody``.
    /// `nil`: not known; the body is sent in chunks (HTTP/1.1) or without a length (HTTP/2).
    var length: Int64? { get }

    /// Whether ``open()`` can provide the same bytes again, for a redirect by 307 or 308, a replay, a retry, or a reused
    /// connection that turned out to be closed. If not, these end with ``ErrandError/uploadNotReplayable``, except a
    /// retry: it is not made, and the request ends with the result of the last attempt.
    var isReplayable: Bool { get }

    /// Makes a reader at the first byte. An error ends the transfer; an error that is not an ``ErrandError`` becomes
    /// the `underlyingError` of ``ErrandError/uploadFailed``. Must not block for long: it may be called on a pool
    /// thread.
    func open() throws -> sending any BodyReader
}

/// Reads a body once, from its first byte to its end. Used by one task at a time, so it needs no lock.
public protocol BodyReader: AnyObject {
    /// The next bytes, at least one and at most `maximum`, which is above zero; `nil` at the end, also in further
    /// calls. While this function waits, the upload waits. In a cancelled task it should throw.
    func next(maximum: Int) async throws -> [UInt8]?

    /// Releases open resources. Called once, after the last ``next(maximum:)`` has returned, at the end of the body or
    /// before it.
    func close()
}

/// A reader whose bytes can stay where they are until they are sent.
package protocol SharedBytesReader: BodyReader {
    /// As ``BodyReader/next(maximum:)``, without a copy. The bytes may be lent for as long as the server does not read. If
    /// there are ``SharedBytes/smallestLoan`` or more, their owner must not keep much more memory than the bytes have,
    /// because credit counts only the bytes.
    func nextShared(maximum: Int) async throws -> SharedBytes?
}

extension SharedBytesReader {
    /// A copy of the bytes, for composite and compressed bodies.
    package func next(maximum: Int) async throws -> [UInt8]? {
        try await nextShared(maximum: maximum)?.copy()
    }
}

/// Checks that a reader returns exactly the number of bytes that its source declares. In a composite body a wrong length
/// would shift all pieces that follow.
final class LengthCheckingReader: BodyReader {
    private let reader: any BodyReader
    private let length: Int64?
    private var count: Int64 = 0

    init(_ reader: any BodyReader, length: Int64?) {
        self.reader = reader
        self.length = length
    }

    func next(maximum: Int) async throws -> [UInt8]? {
        let bytes = try await reader.next(maximum: maximum)
        guard let length else { return bytes }
        count += Int64(bytes?.count ?? 0)
        guard count <= length, bytes != nil || count == length else {
            let relation = count > length ? "more" : "fewer"
            throw ErrandError.invalidBody.with(
                message: "the body's source returned \(relation) than its length of \(length) bytes")
        }
        return bytes
    }

    func close() {
        reader.close()
    }
}
