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
    private let decodes: Bool

    init(_ plan: RivalPlan) {
        fixed = plan.body.map { ByteBuffer(bytes: $0) }
        isTyped = plan.isTyped
        decodes = plan.decodes
    }

    /// The next request's body.
    func make() throws -> ByteBuffer? {
        isTyped ? try encoder.encodeAsByteBuffer(Item.sample, allocator: ByteBufferAllocator()) : fixed
    }

    /// Throws what is no `Item` where one is wanted.
    func check(_ bytes: ByteBuffer) throws {
        if decodes { _ = try decoder.decode(Item.self, from: bytes) }
    }
}
