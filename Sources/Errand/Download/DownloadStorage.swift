import HTTPTypes

/// The response of a download that is complete: a head, and the file that its body became.
///
/// `@unchecked Sendable`: everything is set in the initialiser; see the base class.
final class DownloadStorage: ResponseStorage, @unchecked Sendable {
    struct File: Sendable {
        let path: String
        let byteCount: Int64
        let sha256: String?
        let resumedFrom: Int64
        let validators: DownloadValidators
    }

    let file: File
    private let total: TransferMetrics

    /// `head`: `nil` where nothing was sent.
    init(_ file: File, head: Response?, end: Response?) {
        self.file = file
        let head = head ?? Self.head(of: file)
        var total = end?.metrics ?? head.metrics
        total.remoteAddress = total.remoteAddress ?? head.metrics.remoteAddress
        total.localAddress = total.localAddress ?? head.metrics.localAddress
        self.total = total
        let bytes = head.rawHead
        let base = UnsafeMutableRawPointer.allocate(byteCount: max(1, bytes.count), alignment: 1)
        let memory = UnsafeMutableRawBufferPointer(start: base, count: bytes.count)
        memory.copyBytes(from: bytes)
        super.init(
            statusCode: head.statusCode, head: UnsafeRawBufferPointer(memory),
            body: UnsafeRawBufferPointer(start: nil, count: 0), memory: Memory(pointer: base) { $0.deallocate() })
    }

    override var metrics: TransferMetrics { total }

    private static func head(of file: File) -> Response {
        var fields = HTTPFields()
        fields[.contentLength] = String(file.byteCount)
        fields[.eTag] = file.validators.entityTag
        fields[.lastModified] = file.validators.lastModified
        return Response(statusCode: 200, headers: fields)
    }
}
