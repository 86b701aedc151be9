import CErrand

/// What `errand --version` prints: the engine and the libraries beneath it, asked at run time.
enum ToolVersion {
    static var text: String {
        let features = withUnsafeTemporaryAllocation(of: errand_features.self, capacity: 1) { memory in
            // The function sets every member; Swift cannot zero pointers that are never NULL.
            errand_features_read(memory.baseAddress.unsafelyUnwrapped)
            return memory[0]
        }
        let errand = String(cString: features.errand_version)
        let curl = String(cString: features.curl_version)
        let tls = String(cString: features.tls_version)
        let uv = String(cString: features.uv_version)
        return "errand \(errand) (libcurl \(curl), \(tls), libuv \(uv))"
    }
}
