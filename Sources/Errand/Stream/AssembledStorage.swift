/// A streamed response put together again: its head as it came, what was kept of its body, and what only its end told.
///
/// `@unchecked Sendable`: everything is set in the initialiser; see the base class.
final class AssembledStorage: ResponseStorage, @unchecked Sendable {
    /// Has the trailers, and the memory behind them.
    private let end: Response?
    private let total: TransferMetrics

    /// `end`: what the transfer's end brought; `nil` where it brought nothing.
    init(_ head: Response, body: [UInt8], end: Response?) {
        self.end = end
        var total = end?.metrics ?? head.metrics
        total.remoteAddress = total.remoteAddress ?? head.metrics.remoteAddress
        total.localAddress = total.localAddress ?? head.metrics.localAddress
        self.total = total
        let bytes = head.rawHead
        let base = UnsafeMutableRawPointer.allocate(byteCount: max(1, bytes.count + body.count), alignment: 1)
        let memory = UnsafeMutableRawBufferPointer(start: base, count: bytes.count + body.count)
        memory.copyBytes(from: bytes)
        UnsafeMutableRawBufferPointer(rebasing: memory[bytes.count...]).copyBytes(from: body)
        let whole = UnsafeRawBufferPointer(memory)
        super.init(
            statusCode: head.statusCode, head: UnsafeRawBufferPointer(rebasing: whole[..<bytes.count]),
            body: UnsafeRawBufferPointer(rebasing: whole[bytes.count...]),
            memory: Memory(pointer: base) { $0.deallocate() })
    }

    override var trailers: UnsafeRawBufferPointer {
        end?.storage.trailers ?? UnsafeRawBufferPointer(start: nil, count: 0)
    }

    override var metrics: TransferMetrics { total }
}

extension Response {
    /// A head with this body, and with what its transfer's end has told.
    func assembled(_ body: [UInt8], by end: Response? = nil) -> Response {
        Response(storage: AssembledStorage(self, body: body, end: end))
    }
}
