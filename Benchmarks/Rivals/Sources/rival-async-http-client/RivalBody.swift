import Foundation
import NIOCore
import NIOFoundationCompat
import RivalSupport

/// Bodies made and read by Foundation's JSON, as every program of the comparison does.
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

    /// The next request's body.
    func make() throws -> ByteBuffer? {
        isTyped ? try encoder.encodeAsByteBuffer(Item.sample, allocator: ByteBufferAllocator()) : fixed
    }

    /// Makes of the answer what is wanted of it. Throws where that is an `Item`, and it is none.
    func check(_ bytes: ByteBuffer) throws {
        if isTyped { _ = try decoder.decode(Item.self, from: bytes) }
        if isRich { RichRequest.read(String(buffer: bytes)) }
    }
}
