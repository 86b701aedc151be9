import Foundation
import NIOCore
import NIOFoundationCompat
import RivalSupport

/// Bodies encoded and decoded with Foundation's JSON, like in every program of the comparison.
struct RivalBody: Sendable {
    private let encoder = JSONEncoder()
    private let decoder = JSONDecoder()
    private let fixed: ByteBuffer?
    private let isTyped: Bool
    private let isRich: Bool

    init(_ plan: RivalPlan) {
        fixed = plan.body.map { ByteBuffer(bytes: $0) }
        isTyped = plan.isTyped
        isRich = plan.isRich
    }

    /// The body of the next request.
    func make() throws -> ByteBuffer? {
        isTyped ? try encoder.encodeAsByteBuffer(Item.sample, allocator: ByteBufferAllocator()) : fixed
    }

    /// Decodes the response where typed requests are measured. Throws where the response is not an `Item`.
    func check(_ bytes: ByteBuffer) throws {
        if isTyped { _ = try decoder.decode(Item.self, from: bytes) }
        if isRich { RichRequest.read(String(buffer: bytes)) }
    }
}
