public import HTTPTypes

/// A response: status, header fields, body. The memory behind it is the engine's own, never
/// copied, and freed with the last value that refers to it. Fields and metrics are parsed when they are read.
public struct Response: Sendable {
    package let storage: ResponseStorage
    /// Of the request that it came for; `nil`: the one that all share.
    package var decoder: ResponseDecoder?

    package init(storage: ResponseStorage) {
        self.storage = storage
    }

    /// Makes a response that came from no network, for stubs and caches.
    public init(statusCode: Int, headers: HTTPFields = HTTPFields(), body: [UInt8] = []) {
        let head = Array("HTTP/1.1 \(statusCode) \r\n".utf8) + HeaderBlock(headers).bytes
        self.storage = OwnedResponseStorage(statusCode: statusCode, head: head, body: body)
    }

    /// The same with what it cost.
    package init(statusCode: Int, headers: HTTPFields, body: [UInt8] = [], metrics: TransferMetrics?) {
        let head = Array("HTTP/1.1 \(statusCode) \r\n".utf8) + HeaderBlock(headers).bytes
        storage = OwnedResponseStorage(statusCode: statusCode, head: head, body: body, metrics: metrics)
    }

    /// A response with what a cache, a stream or a download says of it. Copies the bytes; `head` is the status line and the
    /// fields.
    package init(
        statusCode: Int, head: some Collection<UInt8>, body: some Collection<UInt8>, metrics: TransferMetrics? = nil,
        trailers: some Collection<UInt8> = EmptyCollection<UInt8>(), cacheInfo: (any CacheInfo)? = nil,
        attachment: (any Sendable)? = nil
    ) {
        storage = OwnedResponseStorage(
            statusCode: statusCode, head: head, body: body, metrics: metrics, trailers: trailers, cacheInfo: cacheInfo,
            attachment: attachment)
    }

    /// What a part of the library keeps with its response.
    package var attachment: (any Sendable)? { (storage as? OwnedResponseStorage)?.attachment }

    /// What a cache had to do with the response; `nil` for nothing.
    package var cacheInfo: (any CacheInfo)? { storage.cacheInfo }

    /// The trailer fields as they came.
    package var rawTrailers: [UInt8] { Array(storage.trailers) }

    /// 100...599; 0 where a failed request has no response.
    public var statusCode: Int { storage.statusCode }

    /// The status as HTTPTypes has it.
    public var status: HTTPResponse.Status { HTTPResponse.Status(code: max(0, min(999, storage.statusCode))) }

    /// The header fields, parsed now; keep them if you read many.
    public var headers: HTTPFields { HeaderParser.fields(storage.fieldBlock) }

    /// The value of the first field of that name, without parsing the others.
    public func header(_ name: HTTPField.Name) -> String? {
        HeaderParser.firstValue(of: name.canonicalName, in: storage.fieldBlock)
    }

    /// The status line and the fields as they came, each line ended by CRLF.
    public var rawHead: [UInt8] { Array(storage.head) }

    /// Trailer fields (RFC 9110 6.5), parsed now.
    public var trailers: HTTPFields { HeaderParser.fields(storage.trailers) }

    /// The body, decompressed where the engine was asked to.
    public var body: Body { Body(storage: storage) }

    /// How long each phase took, and what it cost.
    public var metrics: TransferMetrics { storage.metrics }

    /// Bytes of the body on the wire, without the price of all metrics.
    package var bytesReceived: UInt64 { storage.bytesReceived }
}

extension Response: CustomStringConvertible {
    /// `200 OK, 12 bytes`.
    public var description: String {
        "\(status), \(body.count) bytes"
    }
}
