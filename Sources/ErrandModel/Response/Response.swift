public import HTTPTypes

/// A response: status, header fields, body. A response from the network refers to the engine's memory without copying
/// it; the memory is freed with the last value that refers to it. Fields and metrics are parsed when they are read.
public struct Response: Sendable {
    package let storage: ResponseStorage
    /// The decoder of the request; `nil`: the shared one.
    package var decoder: ResponseDecoder?

    package init(storage: ResponseStorage) {
        self.storage = storage
    }

    /// Makes a response without a network, for stubs and caches.
    public init(statusCode: Int, headers: HTTPFields = HTTPFields(), body: [UInt8] = []) {
        let head = Array("HTTP/1.1 \(statusCode) \r\n".utf8) + HeaderBlock(headers).bytes
        self.storage = OwnedResponseStorage(statusCode: statusCode, head: head, body: body)
    }

    /// The same with metrics.
    package init(statusCode: Int, headers: HTTPFields, body: [UInt8] = [], metrics: TransferMetrics?) {
        let head = Array("HTTP/1.1 \(statusCode) \r\n".utf8) + HeaderBlock(headers).bytes
        storage = OwnedResponseStorage(statusCode: statusCode, head: head, body: body, metrics: metrics)
    }

    /// Makes a response from the data of a cache, a stream or a download. Copies the bytes; `head` is the status line
    /// and the fields.
    package init(
        statusCode: Int, head: some Collection<UInt8>, body: some Collection<UInt8>, metrics: TransferMetrics? = nil,
        trailers: some Collection<UInt8> = EmptyCollection<UInt8>(), cacheInfo: (any CacheInfo)? = nil,
        attachment: (any Sendable)? = nil
    ) {
        storage = OwnedResponseStorage(
            statusCode: statusCode, head: head, body: body, metrics: metrics, trailers: trailers, cacheInfo: cacheInfo,
            attachment: attachment)
    }

    /// A value that another part of the library stores with its response.
    package var attachment: (any Sendable)? { (storage as? OwnedResponseStorage)?.attachment }

    /// How a cache took part in the response; `nil`: not at all.
    package var cacheInfo: (any CacheInfo)? { storage.cacheInfo }

    /// The trailer fields, unparsed.
    package var rawTrailers: [UInt8] { Array(storage.trailers) }

    /// 100...599; 0 if a failed request has no response.
    public var statusCode: Int { storage.statusCode }

    /// The status as a type of HTTPTypes.
    public var status: HTTPResponse.Status { HTTPResponse.Status(code: max(0, min(999, storage.statusCode))) }

    /// The header fields, parsed at each call; keep the value to read many fields.
    public var headers: HTTPFields { HeaderParser.fields(storage.fieldBlock) }

    /// The value of the first field of that name, without parsing the others.
    public func header(_ name: HTTPField.Name) -> String? {
        HeaderParser.firstValue(of: name.canonicalName, in: storage.fieldBlock)
    }

    /// The status line and the fields as received, each line ended by CRLF.
    public var rawHead: [UInt8] { Array(storage.head) }

    /// Trailer fields (RFC 9110 6.5), parsed at each call.
    public var trailers: HTTPFields { HeaderParser.fields(storage.trailers) }

    /// The body, decompressed if the engine requested a content encoding.
    public var body: Body { Body(storage: storage) }

    /// Timings and byte counts of the transfer.
    public var metrics: TransferMetrics { storage.metrics }

    /// Bytes of the body on the wire, without parsing all metrics.
    package var bytesReceived: UInt64 { storage.bytesReceived }
}

extension Response: CustomStringConvertible {
    /// `200 OK, 12 bytes`.
    public var description: String {
        "\(status), \(body.count) bytes"
    }
}
