/// Bytes that stay where they are while a request sends them, such as the readable bytes of a SwiftNIO buffer
/// (`SharedBytes(buffer)` and `RequestBody.byteBuffer` of the product ErrandNIO). Copies of this value share them. Nobody
/// can change them.
///
/// Arrays and `Data` cannot share their bytes in this way: their pointers are valid only within `withUnsafeBytes`. The
/// bytes of an array are copied once, into memory that the copies of this value share.
///
/// `@unchecked Sendable`: the bytes do not change while `owner` is referred to, which `init` demands, and `owner` is only
/// retained and released.
public struct SharedBytes: @unchecked Sendable {
    private let bytes: UnsafeRawBufferPointer
    /// Keeps the bytes.
    package let owner: AnyObject

    /// A copy of the bytes of an array, in separate memory. Any thread.
    ///
    /// Each attempt of a request copies a body of `.bytes` or `.data`. No attempt copies a body of `.shared`.
    public init(_ bytes: [UInt8]) {
        self = bytes.withUnsafeBytes { SharedBytes(copying: $0) }
    }

    /// Any thread may release the last reference to `owner`, also a loop of the engine, so its `deinit` must not block or
    /// run code of the user.
    ///
    /// - Parameters:
    ///   - bytes: neither move nor change as long as there is a reference to `owner`.
    ///   - owner: keeps the bytes.
    package init(_ bytes: UnsafeRawBufferPointer, owner: AnyObject) {
        self.bytes = bytes
        self.owner = owner
    }

    /// A copy of the bytes, in separate memory of exactly their size.
    package init(copying bytes: UnsafeRawBufferPointer) {
        let copy = Copy(of: bytes)
        self.init(UnsafeRawBufferPointer(copy.bytes), owner: copy)
    }

    /// Memory with a copy of bytes, which is freed with the last reference.
    private final class Copy {
        let bytes: UnsafeMutableRawBufferPointer

        init(of source: UnsafeRawBufferPointer) {
            bytes = .allocate(byteCount: source.count, alignment: 1)
            bytes.copyMemory(from: source)
        }

        deinit { bytes.deallocate() }
    }

    /// Parts of a streamed upload with fewer bytes are copied into the engine's memory. A loan costs more than such a copy,
    /// and keeps all memory of its owner allocated.
    package static let smallestLoan = 4096

    /// The number of bytes.
    public var count: Int { bytes.count }

    /// Calls `body` with the bytes where they are. The pointer is valid only in `body`. Any thread.
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        defer { withExtendedLifetime(owner) {} }
        return try body(bytes)
    }

    /// A copy of the bytes.
    public func copy() -> [UInt8] { withUnsafeBytes { [UInt8]($0) } }

    /// The first `count` bytes, or all bytes if there are fewer, with the same owner.
    package func prefix(_ count: Int) -> SharedBytes {
        SharedBytes(UnsafeRawBufferPointer(rebasing: bytes.prefix(count)), owner: owner)
    }
}
