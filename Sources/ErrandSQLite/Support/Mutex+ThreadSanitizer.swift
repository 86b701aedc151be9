#if ERRAND_TSAN
import Synchronization

/// Replaces `Synchronization.Mutex` in builds for ThreadSanitizer (`-Xswiftc -DERRAND_TSAN`), as `ThreadSanitizerMutex`
/// of ErrandModel does there. This is a copy, because the modules that link to this file import Errand: members of a
/// type of ErrandModel are visible only in files that import ErrandModel (MemberImportVisibility).
struct Mutex<Value: ~Copyable>: ~Copyable, Sendable {
    private let original: Synchronization.Mutex<Value>
    /// The key's address identifies the lock.
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
