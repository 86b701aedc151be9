import CErrand

extension SharedBytes {
    /// Bytes that the core borrows. It gives them back by one call of `release` with `context`.
    struct Loan {
        let bytes: errand_bytes
        /// A reference to the owner of the bytes.
        let context: UnsafeMutableRawPointer

        init(_ shared: SharedBytes) {
            bytes = shared.withUnsafeBytes {
                errand_bytes(data: $0.baseAddress?.assumingMemoryBound(to: UInt8.self), length: $0.count)
            }
            context = Unmanaged.passRetained(shared.owner).toOpaque()
        }

        /// Called instead of the core, which has not taken the loan.
        func takeBack() { Self.release(context) }

        static var release: @convention(c) (UnsafeMutableRawPointer?) -> Void {
            { context in
                guard let context else { return }
                Unmanaged<AnyObject>.fromOpaque(context).release()
            }
        }
    }
}
