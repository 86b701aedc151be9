#if ERRAND_TSAN
import Errand

// Takes precedence over `Synchronization.Mutex` in this module.
typealias Mutex<Value: ~Copyable> = ThreadSanitizerMutex<Value>
#endif
