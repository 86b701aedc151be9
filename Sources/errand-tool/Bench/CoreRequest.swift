import CErrand
import Foundation
import HTTPTypes

/// The plan's request as the core's structure. Owns the memory that the structure points to.
///
/// `@unchecked Sendable`: everything is set in the initialiser. The memory is not written afterwards, and is freed in
/// `deinit`.
final class CoreRequest: @unchecked Sendable {
    let template: errand_request
    private let blocks: [UnsafeMutableBufferPointer<UInt8>]

    /// Throws the error with which the core would reject the request.
    init(_ plan: BenchPlan) throws(ToolError) {
        var blocks: [UnsafeMutableBufferPointer<UInt8>] = []
        func keep(_ bytes: [UInt8]) -> errand_bytes {
            let block = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
            _ = block.initialize(from: bytes)
            blocks.append(block)
            return errand_bytes(data: UnsafePointer(block.baseAddress), length: bytes.count)
        }
        let milliseconds = CoreTime.milliseconds(plan.timeout)
        var request = errand_request()
        request.method = keep(Array(plan.method.rawValue.utf8))
        request.url = keep(Array(plan.url.utf8))
        request.headers = keep(plan.headers.flatMap { Array("\($0.name.rawName): \($0.value)\r\n".utf8) })
        if let body = plan.body {
            request.body_kind = .memory
            request.body = keep(Array(body))
            request.body_length = Int64(body.count)
        }
        request.timeout_connect = milliseconds
        request.timeout_idle = milliseconds
        request.limit_body_bytes = Int64(plan.bodyLimit)
        request.limit_decoded_bytes = Int64(plan.bodyLimit)
        request.flags = UInt32(ERRAND_REQUEST_DISCARD_BODY)
        template = request
        self.blocks = blocks
        let status = errand_request_validate(&request)
        guard status == .ok else { throw ToolError(status) }
    }

    deinit {
        for block in blocks { block.deallocate() }
    }
}
