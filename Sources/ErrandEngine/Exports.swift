// The public interface of this module uses types of the modules below it.
@_exported public import ErrandModel

#if ERRAND_TSAN
// Takes precedence over `Synchronization.Mutex` in this module.
typealias Mutex<Value: ~Copyable> = ThreadSanitizerMutex<Value>
#endif
