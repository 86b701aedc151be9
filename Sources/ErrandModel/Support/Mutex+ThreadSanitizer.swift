#if ERRAND_TSAN
// Takes precedence over `Synchronization.Mutex` in this module.
typealias Mutex<Value: ~Copyable> = ThreadSanitizerMutex<Value>
#endif
