/// How much a server may send. What is left `nil` is inherited: from the command by an override, from the client by a
/// command, and from the library by the client. Anything else must be above zero and at most 2^50, or the request fails
/// with ``ErrandError/invalidLimit`` before it starts.
public struct Limits: Sendable, Hashable {
    /// Bytes of a response's header block. The library's: 64 KiB. Ends with ``ErrandError/limitHeaderBytes``.
    public var headerBytes: Int?
    /// Fields of a response's header block. The library's: 128. Ends with ``ErrandError/limitHeaderCount``.
    public var headerCount: Int?
    /// Body bytes on the wire. The library's: 64 MiB. Ends with ``ErrandError/limitBodyBytes``.
    public var bodyBytes: Int?
    /// Body bytes after decompression. The library's: 64 MiB. Ends with ``ErrandError/limitDecodedBytes``.
    public var decodedBytes: Int?

    /// Makes a set of limits; what is left out is inherited.
    public init(headerBytes: Int? = nil, headerCount: Int? = nil, bodyBytes: Int? = nil, decodedBytes: Int? = nil) {
        self.headerBytes = headerBytes
        self.headerCount = headerCount
        self.bodyBytes = bodyBytes
        self.decodedBytes = decodedBytes
    }

    /// The members of `base` where there are none here.
    package func inheriting(_ base: Limits) -> Limits {
        Limits(
            headerBytes: headerBytes ?? base.headerBytes, headerCount: headerCount ?? base.headerCount,
            bodyBytes: bodyBytes ?? base.bodyBytes, decodedBytes: decodedBytes ?? base.decodedBytes)
    }

    /// The core's own bound.
    static let maximum = 1 << 50

    static func count(_ value: Int?, _ name: StaticString) throws(ErrandError) -> Int64 {
        guard let value else { return 0 }
        guard value > 0, value <= maximum else {
            throw ErrandError.invalidLimit.with(message: "limit '\(name)' is \(value), not within 1...2^50")
        }
        return Int64(value)
    }
}
