public import FoundationEssentials

extension Response {
    /// A response's body: a view that keeps the engine's memory alive.
    public struct Body: Sendable {
        let storage: ResponseStorage

        /// The number of bytes.
        public var count: Int { storage.body.count }

        /// Whether there are none.
        public var isEmpty: Bool { storage.body.isEmpty }

        /// Calls `read` with the bytes in place. The pointer must not leave the closure.
        public func withBytes<Result, Failure: Error>(
            _ read: (UnsafeRawBufferPointer) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            let result = try read(storage.body)
            withExtendedLifetime(storage) {}
            return result
        }

        /// A copy of the bytes.
        public var bytes: [UInt8] { withBytes { [UInt8]($0) } }

        /// The bytes as `Data` that shares the engine's memory and keeps it alive.
        public var data: Data {
            let bytes = storage.body
            guard let base = bytes.baseAddress, !bytes.isEmpty else { return Data() }
            // Foundation copies before it writes into memory that it does not own alone, so nobody writes here.
            return Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: base), count: bytes.count,
                deallocator: .custom { [storage] _, _ in withExtendedLifetime(storage) {} })
        }
    }
}
