// The public interface of this module uses the modules below it.
@_exported public import ErrandClient

#if ERRAND_TSAN
// Takes precedence over `Synchronization.Mutex` in this module.
typealias Mutex<Value: ~Copyable> = ThreadSanitizerMutex<Value>
#endif
