public import FoundationEssentials

/// A type that a response turns into without a decoder: what a command's `Response` may be beside `Decodable` types.
///
/// `Data`, `[UInt8]`, `String`, ``NoContent`` and ``Response`` are; a type of yours that reads another format can be.
public protocol ResponseConvertible: Sendable {
    /// Called on the client's callback queue, or in the caller's own task. An error that is no ``ErrandError`` becomes
    /// the `underlyingError` of ``ErrandError/responseDecodingFailed``.
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
    /// The body as text; throws ``ErrandError/responseDecodingFailed`` where it is not valid in its charset.
    public init(response: Response) throws {
        self = try response.text()
    }
}

extension NoContent: ResponseConvertible {
    /// Nothing; the body is ignored.
    public init(response: Response) {
        self.init()
    }
}
