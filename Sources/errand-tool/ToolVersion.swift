import CErrand
import CSQLite

/// The output of `errand --version`: the version of the engine, and of its libraries as reported at run time.
enum ToolVersion {
    /// The first line, such as `errand 0.1.0`.
    static var errand: String {
        "errand \(String(cString: features.errand_version))"
    }

    static var text: String {
        let features = Self.features
        return """
            \(errand)
            libraries: \(String(cString: features.curl_libraries))
            event loop: libuv/\(String(cString: features.uv_version))
            cache: SQLite/\(String(cString: sqlite3_libversion()))
            content codings: \(String(cString: features.coding_libraries))
            """
    }

    private static var features: errand_features {
        withUnsafeTemporaryAllocation(of: errand_features.self, capacity: 1) { memory in
            // The function sets every member; Swift cannot zero-initialize pointers that are never NULL.
            errand_features_read(memory.baseAddress.unsafelyUnwrapped)
            return memory[0]
        }
    }
}
