import CErrand

/// Names of hosts as they are looked up.
enum HostName {
    /// libcurl's own mapping of a name that is not ASCII to A-labels (`xn--...`); any other is answered as it is. Escapes
    /// are undone before. Throws ``ErrandError/invalidURL``, and ``ErrandError/unsupportedFeature`` where this libcurl has
    /// no IDN.
    static func ascii(_ name: String) throws(ErrandError) -> String {
        if name.utf8.allSatisfy({ $0 < 0x80 }) { return name }
        var name = name
        // RFC 1035 2.3.4, and a NUL.
        var buffer = [CChar](repeating: 0, count: 256)
        let status = name.withUTF8 { bytes in
            buffer.withUnsafeMutableBufferPointer { buffer in
                guard let out = buffer.baseAddress else { return errand_status.internal }
                return errand_host_ascii(errand_bytes(data: bytes.baseAddress, length: bytes.count), out, buffer.count)
            }
        }
        if let error = ErrandError(status) {
            throw error.with(message: "the host \(name.debugDescription) has no A-label (xn--...)")
        }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
