import Glibc

/// The limit on open descriptors of the tool.
enum OpenFiles {
    /// Raises the soft limit (`RLIMIT_NOFILE`) to the hard limit: shells set 1,024, and a benchmark needs more. The
    /// soft limit exists for programs that use `select`, but neither the engine nor libcurl uses it. Only the tool does
    /// this; the library leaves the limits of its host process unchanged.
    static func allowAll() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < limit.rlim_max
        else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
