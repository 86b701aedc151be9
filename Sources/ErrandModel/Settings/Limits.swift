/// How much a server may send. A limit that is `nil` is inherited: an override inherits from the command, a command
/// from the client, and the client from the library. Any other value must be above zero and at most 2^50; otherwise the
/// request fails with ``ErrandError/invalidLimit`` before it starts.
public struct Limits: Sendable, Hashable {
    /// Bytes of a response's header block. The library's default: 64 KiB. A larger one is
    /// ``ErrandError/limitHeaderBytes``.
    public var headerBytes: Int?
    /// Fields of a response's header block. The library's default: 128. More are ``ErrandError/limitHeaderCount``.
    public var headerCount: Int?
    /// Body bytes on the wire. The library's default: 64 MiB. More are ``ErrandError/limitBodyBytes``. With `byteBuffers`
    /// of `ErrandNIO` a whole body has less than 4 GiB, whatever this limit and ``decodedBytes`` are.
    public var bodyBytes: Int?
    /// Body bytes after decompression. The library's default: 64 MiB. More are ``ErrandError/limitDecodedBytes``.
    public var decodedBytes: Int?

    /// Makes a set of limits; members that are left out are inherited.
    public init(headerBytes: Int? = nil, headerCount: Int? = nil, bodyBytes: Int? = nil, decodedBytes: Int? = nil) {
        self.headerBytes = headerBytes
        self.headerCount = headerCount
        self.bodyBytes = bodyBytes
        self.decodedBytes = decodedBytes
    }

    /// These limits; members that are not set are taken from `base`.
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
            throw ErrandError.invalidLimit.with(message: "limit '\(name)' is \(value), expected 1...2^50")
        }
        return Int64(value)
    }
}
