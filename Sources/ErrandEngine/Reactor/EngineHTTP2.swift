import CErrand

/// How the libcurl in use handles HTTP/2.
package enum EngineHTTP2 {
    /// Whether ``ConnectionOptions/HTTPVersionPolicy/automatic`` means HTTP/2 where TLS negotiates it.
    package static let isDefault = withUnsafeTemporaryAllocation(of: errand_features.self, capacity: 1) { features in
        guard let features = features.baseAddress else { return false }
        errand_features_read(features)
        return features.pointee.flags & UInt32(ERRAND_FEATURE_HTTP2_DEFAULT) != 0
    }
}
