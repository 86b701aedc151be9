import HTTPTypes

/// Collects the beginning of a body, and counts the bytes of the whole body.
struct HARBytes {
    private(set) var kept: [UInt8] = []
    private(set) var count = 0

    mutating func add(_ bytes: UnsafeRawBufferPointer, limit: Int) {
        count += bytes.count
        let room = limit - kept.count
        if room > 0 { kept.append(contentsOf: bytes.prefix(room)) }
    }

    mutating func add(_ bytes: [UInt8], limit: Int) {
        bytes.withUnsafeBytes { add($0, limit: limit) }
    }

    /// Counts bytes that are not kept.
    mutating func skip(_ size: Int) { count += size }

    /// The body with its secrets hidden. `fields`: see the initializer of ``HAR/Body``.
    func body(
        type: String?, fields: inout HTTPFields, isDecoded: Bool = false, _ options: HAROptions,
        by pseudonyms: Pseudonyms? = nil
    ) -> HAR.Body {
        HAR.Body(
            keeping: kept, of: count, type: type, fields: &fields, isDecoded: isDecoded, limit: options.bodyLimit,
            options.bodyRedaction, by: pseudonyms)
    }
}
