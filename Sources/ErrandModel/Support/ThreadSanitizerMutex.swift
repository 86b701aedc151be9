#if ERRAND_TSAN
import Synchronization

/// Replaces `Synchronization.Mutex` in builds for ThreadSanitizer (`-Xswiftc -DERRAND_TSAN`), which does not see the
/// futex of the original and reports races on everything that it guards. This mutex tells ThreadSanitizer that
/// everything before an unlock happens before everything after the next lock.
package struct ThreadSanitizerMutex<Value: ~Copyable>: ~Copyable, Sendable {
    private let original: Synchronization.Mutex<Value>
    /// The key's address identifies the lock.
    private let key = Key()

    private final class Key: Sendable {}

    package init(_ value: consuming sending Value) {
        original = Synchronization.Mutex(value)
    }

    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try original.withLock { (value: inout sending Value) throws(Failure) -> sending Result in
            threadSanitizerAcquire(Unmanaged.passUnretained(key).toOpaque())
            defer { threadSanitizerRelease(Unmanaged.passUnretained(key).toOpaque()) }
            return try body(&value)
        }
    }
}

// Takes precedence over `Synchronization.Mutex` in this module.
typealias Mutex<Value: ~Copyable> = ThreadSanitizerMutex<Value>

@_silgen_name("__tsan_acquire")
private func threadSanitizerAcquire(_ address: UnsafeMutableRawPointer)

@_silgen_name("__tsan_release")
private func threadSanitizerRelease(_ address: UnsafeMutableRawPointer)
#endif
