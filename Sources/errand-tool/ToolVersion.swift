import CErrand
import CSQLite

/// What `errand --version` prints: the engine, and the libraries that run beneath it, asked at run time.
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
            // The function sets every member; Swift cannot zero pointers that are never NULL.
            errand_features_read(memory.baseAddress.unsafelyUnwrapped)
            return memory[0]
        }
    }
}
