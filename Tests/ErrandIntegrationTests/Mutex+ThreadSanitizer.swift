#if ERRAND_TSAN
import Errand

/// See the original in `Errand`; a name of this module goes before that of `Synchronization`.
typealias Mutex = Errand.Mutex
#endif
