/// How much a server may send. `nil` means the engine's default; anything else must be above zero and at most 2^50, or
/// the request fails with ``ErrandError/invalidLimit`` before it starts.
public struct Limits: Sendable, Hashable {
    /// Bytes of a response's header block. Default: 64 KiB. Ends with ``ErrandError/limitHeaderBytes``.
    public var headerBytes: Int?
    /// Fields of a response's header block. Default: 128. Ends with ``ErrandError/limitHeaderCount``.
    public var headerCount: Int?
    /// Body bytes on the wire. Default: 64 MiB. Ends with ``ErrandError/limitBodyBytes``.
    public var bodyBytes: Int?
    /// Body bytes after decompression. Default: 64 MiB. Ends with ``ErrandError/limitDecodedBytes``.
    public var decodedBytes: Int?

    /// Makes a set of limits; what is left out has the engine's default.
    public init(headerBytes: Int? = nil, headerCount: Int? = nil, bodyBytes: Int? = nil, decodedBytes: Int? = nil) {
        self.headerBytes = headerBytes
        self.headerCount = headerCount
        self.bodyBytes = bodyBytes
        self.decodedBytes = decodedBytes
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
