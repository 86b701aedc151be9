import Errand
import Glibc

/// The location of a named cache, by the XDG Base Directory Specification.
enum SQLiteCacheDirectory {
    /// `$XDG_CACHE_HOME/NAME`, or `~/.cache/NAME`, passed through the filters in order; no slash at the end.
    static func path(
        named name: String, filters: [@Sendable (String) -> String], environment: (String) -> String? = Self.variable
    ) throws(CacheStoreError) -> String {
        guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(where: { $0 == 47 || $0 == 0 }) else {
            throw CacheStoreError.pathRefused.with(
                message: "the cache's name \"\(name)\" is not a single path component")
        }
        guard let base = base(environment) else {
            throw CacheStoreError.pathRefused.with(message: "neither XDG_CACHE_HOME nor HOME is an absolute path")
        }
        return try checked(filters.reduce("\(base)/\(name)") { $1($0) })
    }

    /// The path without slashes at its end. Throws if it is not absolute or has a NUL byte.
    static func checked(_ path: String) throws(CacheStoreError) -> String {
        guard isAbsolute(path), !path.utf8.contains(0) else {
            throw CacheStoreError.pathRefused.with(message: "the cache's path \"\(path)\" is not absolute")
        }
        var path = path
        while path.hasSuffix("/"), path != "/" { path.removeLast() }
        return path
    }

    /// The specification says that a relative XDG_CACHE_HOME is to be ignored.
    private static func base(_ environment: (String) -> String?) -> String? {
        if let base = environment("XDG_CACHE_HOME"), isAbsolute(base) { return base }
        if let home = environment("HOME"), isAbsolute(home) { return "\(home)/.cache" }
        return nil
    }

    private static func isAbsolute(_ path: String) -> Bool {
        path.utf8.first == 47
    }

    static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
