/// A request body that is made while it is sent: read from a file, taken from a sequence, put together, compressed.
///
/// The engine opens a reader for each transfer, asks it for bytes as fast as the network takes them and never before, and
/// closes it. A source is a value without a position; readers have the position. A request has one reader open at a time:
/// after a redirect, a replay or a restart it opens the next one when the last one is closed. Requests that share a source
/// have a reader each.
public protocol RequestBodySource: Sendable {
    /// Bytes in all, which a reader has to keep to: another number is ``ErrandError/invalidBody``. `nil`: not known; it is
    /// sent in chunks (HTTP/1.1) or without a length (HTTP/2).
    var length: Int64? { get }

    /// Whether ``open()`` gives the same bytes again, as a redirect by 307 or 308, a retry, or a kept connection that
    /// turned out closed needs; if not, those end with ``ErrandError/uploadNotReplayable``.
    var isReplayable: Bool { get }

    /// A reader at the first byte. What it throws ends the transfer; an error that is no ``ErrandError`` becomes the
    /// `underlyingError` of ``ErrandError/uploadFailed``. Must not block for long: it may be called on a pool thread.
    func open() throws -> sending any BodyReader
}

/// Reads a body once, from its first byte to its end. Used by one task at a time, so it needs no lock.
public protocol BodyReader: AnyObject {
    /// The next bytes, at least one and at most `maximum`, which is above zero; `nil` at the end, and again if asked
    /// again. Waiting here is what holds the upload back; a cancelled task should be answered by throwing.
    func next(maximum: Int) async throws -> [UInt8]?

    /// Lets go of what is open. Called once, after the last ``next(maximum:)`` has returned, at the end or before it.
    func close()
}
