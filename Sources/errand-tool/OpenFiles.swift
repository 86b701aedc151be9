import Glibc

/// How many descriptors the tool may have.
enum OpenFiles {
    /// Raises the soft limit (`RLIMIT_NOFILE`) to the hard one: shells give 1,024, of which a benchmark needs more. The
    /// soft limit is there for programs that use `select`, which neither the engine nor libcurl does. For the tool alone:
    /// the library leaves the limits of its host as they are.
    static func allowAll() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < limit.rlim_max
        else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
