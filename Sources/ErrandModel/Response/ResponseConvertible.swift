public import FoundationEssentials

/// A type that is made from a response without a decoder. A command's `Response` is `Decodable` or such a type.
///
/// `Data`, `[UInt8]`, `String`, ``NoContent`` and ``Response`` conform; conform your own type to read another format.
public protocol ResponseConvertible: Sendable {
    /// Called on the client's callback queue, or in the caller's own task. An error that is not an ``ErrandError``
    /// becomes the `underlyingError` of ``ErrandError/responseDecodingFailed``.
    init(response: Response) throws
}

extension Response: ResponseConvertible {
    /// The response itself.
    public init(response: Response) {
        self = response
    }
}

extension Data: ResponseConvertible {
    /// The body's bytes; they are not copied.
    public init(response: Response) {
        self = response.body.data
    }
}

extension [UInt8]: ResponseConvertible {
    /// A copy of the body's bytes.
    public init(response: Response) {
        self = response.body.bytes
    }
}

extension String: ResponseConvertible {
    /// The body as text; throws ``ErrandError/responseDecodingFailed`` where it is invalid in its charset.
    public init(response: Response) throws {
        self = try response.text()
    }
}

/// The value of a command that ignores the response's body.
public struct NoContent: Sendable, Hashable {
    /// Makes the value; all are equal.
    public init() {}
}

extension NoContent: ResponseConvertible {
    /// Makes the value; the body is ignored.
    public init(response: Response) {
        self.init()
    }
}
