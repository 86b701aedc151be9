/// Bytes of a streamed body in the memory in which they have arrived, never empty. The reader copies them into the memory
/// that it wants.
package enum BodyPiece: Sendable {
    /// A chunk in the engine's memory.
    case chunk(Response)
    /// Small chunks that were merged.
    case merged([UInt8])

    /// The number of bytes.
    package var count: Int {
        switch self {
        case .chunk(let chunk): chunk.body.count
        case .merged(let bytes): bytes.count
        }
    }

    /// A copy of a chunk's bytes; merged bytes are not copied again.
    package var bytes: [UInt8] {
        switch self {
        case .chunk(let chunk): chunk.body.bytes
        case .merged(let bytes): bytes
        }
    }

    /// Calls `read` with the bytes in place. The pointer must not leave the closure.
    package func withBytes<Value>(_ read: (UnsafeRawBufferPointer) -> Value) -> Value {
        switch self {
        case .chunk(let chunk): chunk.body.withBytes(read)
        case .merged(let bytes): bytes.withUnsafeBytes(read)
        }
    }
}
