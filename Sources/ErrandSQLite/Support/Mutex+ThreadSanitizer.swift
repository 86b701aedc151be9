#if ERRAND_TSAN
import Synchronization

/// Stands in for `Synchronization.Mutex` in builds for ThreadSanitizer (`-Xswiftc -DERRAND_TSAN`), which does not see
/// the futex of the original and takes all that it guards for races. This one tells it: what was done before an unlock
/// happened before what is done after the next lock.
struct Mutex<Value: ~Copyable>: ~Copyable, Sendable {
    private let original: Synchronization.Mutex<Value>
    /// Its address stands for the lock.
    private let key = Key()

    private final class Key: Sendable {}

    init(_ value: consuming sending Value) {
        original = Synchronization.Mutex(value)
    }

    borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try original.withLock { (value: inout sending Value) throws(Failure) -> sending Result in
            threadSanitizerAcquire(Unmanaged.passUnretained(key).toOpaque())
            defer { threadSanitizerRelease(Unmanaged.passUnretained(key).toOpaque()) }
            return try body(&value)
        }
    }
}

@_silgen_name("__tsan_acquire")
private func threadSanitizerAcquire(_ address: UnsafeMutableRawPointer)

@_silgen_name("__tsan_release")
private func threadSanitizerRelease(_ address: UnsafeMutableRawPointer)
#endif
