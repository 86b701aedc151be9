import CZlib

/// Strings of a journal are preceded by their length in 8 bytes, which is all ones for `nil`.
extension BinaryWriter {
    mutating func journalText(_ text: String?) {
        guard let text else { return number(UInt64.max) }
        number(UInt64(text.utf8.count))
        raw(text.utf8)
    }
}

extension BinaryReader {
    /// The outer `nil`: the bytes are malformed. The inner `nil`: a `nil` was written.
    mutating func journalText() -> String?? {
        guard let count = number(UInt64.self) else { return nil }
        if count == .max { return .some(nil) }
        guard let text = Int(exactly: count).flatMap({ self.text($0) }) else { return nil }
        return text
    }
}

/// Detects accidental corruption.
enum Checksum {
    static func crc32(_ bytes: some Collection<UInt8>) -> UInt32 {
        let bytes = Array(bytes)
        return bytes.withUnsafeBufferPointer { UInt32(truncatingIfNeeded: crc32_z(0, $0.baseAddress, $0.count)) }
    }
}
