import CErrand
import Synchronization

/// One block of memory into which the core writes the body of a response, or a chunk of it, instead of its own memory.
///
/// A loop of the engine makes the object and lets it grow, while nobody else knows of it. So the members must neither
/// block nor run code of the user. Any thread may release the last reference.
package protocol BodyMemory: AnyObject, Sendable {
    /// The largest capacity.
    static var largest: Int { get }
    /// Makes a block of at least `capacity` bytes; `nil`: no block is that large.
    init?(capacity: Int)
    /// All bytes of the block.
    var bytes: UnsafeMutableRawBufferPointer { get }
    /// Makes the block larger, by a factor of its own if `capacity` is less. All bytes stay as they are. Returns false
    /// if no block is that large; the block is then as before.
    func grow(to capacity: Int) -> Bool
}

/// The type of memory for the bodies of requests with ``CommandOptions/bodyMemory``. There is one type for the process,
/// because the single bit of the options cannot name more.
package enum BodyMemories {
    /// The address of the core's table of functions; 0: no type was chosen. The table is never freed: the core has no
    /// copy of it.
    private static let chosen = Atomic<UInt>(0)

    /// What the table needs to know about the type.
    private final class Functions: Sendable {
        let largest: Int
        let make: @Sendable (Int) -> (owner: UnsafeMutableRawPointer, bytes: UnsafeMutableRawBufferPointer)?
        let grow: @Sendable (UnsafeMutableRawPointer, Int) -> UnsafeMutableRawBufferPointer?

        init<Memory: BodyMemory>(_ type: Memory.Type) {
            largest = Memory.largest
            make = { capacity in
                guard let memory = Memory(capacity: capacity) else { return nil }
                return (Unmanaged.passRetained(memory).toOpaque(), memory.bytes)
            }
            grow = { owner, capacity in
                let memory = Unmanaged<Memory>.fromOpaque(owner).takeUnretainedValue()
                return memory.grow(to: capacity) ? memory.bytes : nil
            }
        }

        static func at(_ context: UnsafeMutableRawPointer) -> Functions {
            Unmanaged<Functions>.fromOpaque(context).takeUnretainedValue()
        }
    }

    /// Has the core use memory of this type for requests that are submitted from now on. Call it once in the process.
    package static func choose<Memory: BodyMemory>(_ type: Memory.Type) {
        let table = UnsafeMutablePointer<errand_body_memory>.allocate(capacity: 1)
        table.initialize(
            to: errand_body_memory(
                context: Unmanaged.passRetained(Functions(type)).toOpaque(),
                create: { context, capacity, owner in
                    guard let context, let made = Functions.at(context).make(capacity.pointee) else { return nil }
                    capacity.pointee = made.bytes.count
                    owner.pointee = made.owner
                    return made.bytes.baseAddress
                },
                grow: { context, owner, _, capacity in
                    guard let context, let owner,
                        let bytes = Functions.at(context).grow(owner, capacity.pointee)
                    else { return nil }
                    capacity.pointee = bytes.count
                    return bytes.baseAddress
                },
                release: { owner in
                    if let owner { Unmanaged<AnyObject>.fromOpaque(owner).release() }
                }))
        chosen.store(UInt(bitPattern: table), ordering: .releasing)
    }

    /// Has the core use the memory for this request. A whole body that is larger than any block then counts as beyond
    /// the limit of the body, not as out of memory. A limit of 0 is the engine's default, which is less than a block
    /// may have.
    static func use(for request: inout errand_request, isWhole: Bool) {
        guard let table = UnsafePointer<errand_body_memory>(bitPattern: chosen.load(ordering: .acquiring)),
            let context = table.pointee.context
        else { return }
        request.response_memory = table
        guard isWhole else { return }
        let largest = Int64(Functions.at(context).largest)
        request.limit_body_bytes = min(request.limit_body_bytes, largest)
        request.limit_decoded_bytes = min(request.limit_decoded_bytes, largest)
    }
}
