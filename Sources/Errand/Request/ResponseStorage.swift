/// The memory behind a ``Response``. The base class of what the engine hands over and of what Swift code makes.
///
/// `@unchecked Sendable`: subclasses set everything in their initialiser and change nothing until `deinit`; the buffers
/// point at memory that the object owns alone and that nobody writes any more.
class ResponseStorage: @unchecked Sendable {
    let statusCode: Int
    /// The status line and the fields.
    let head: UnsafeRawBufferPointer
    let body: UnsafeRawBufferPointer

    init(statusCode: Int, head: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer) {
        self.statusCode = statusCode
        self.head = head
        self.body = body
    }

    var trailers: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
    var metrics: TransferMetrics { TransferMetrics() }

    /// The fields without the status line.
    final var fieldBlock: UnsafeRawBufferPointer {
        guard let lineEnd = head.firstIndex(of: 0x0A) else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(rebasing: head[(lineEnd + 1)...])
    }
}

/// Memory of Swift's own: stubs, caches, tests.
final class OwnedResponseStorage: ResponseStorage, @unchecked Sendable {
    private let memory: UnsafeMutableRawBufferPointer

    init(statusCode: Int, head: [UInt8], body: [UInt8]) {
        memory = UnsafeMutableRawBufferPointer.allocate(byteCount: head.count + body.count, alignment: 1)
        memory.copyBytes(from: head)
        UnsafeMutableRawBufferPointer(rebasing: memory[head.count...]).copyBytes(from: body)
        let whole = UnsafeRawBufferPointer(memory)
        super.init(
            statusCode: statusCode, head: UnsafeRawBufferPointer(rebasing: whole[..<head.count]),
            body: UnsafeRawBufferPointer(rebasing: whole[head.count...]))
    }

    deinit {
        memory.deallocate()
    }
}
