import CErrand

private func reading<Value>(_ body: (errand_features) -> Value, otherwise: Value) -> Value {
    withUnsafeTemporaryAllocation(of: errand_features.self, capacity: 1) { features in
        guard let features = features.baseAddress else { return otherwise }
        errand_features_read(features)
        return body(features.pointee)
    }
}

/// Whether the libcurl that runs has WebSocket.
let hasWebSocket = reading({ $0.flags & UInt32(ERRAND_FEATURE_WEBSOCKET) != 0 }, otherwise: false)

/// The libcurl that runs, and the libraries beneath it: "libcurl/8.14.1 OpenSSL/3.0.17 ...".
let libcurlVersion = reading({ String(cString: $0.curl_libraries) }, otherwise: "")
