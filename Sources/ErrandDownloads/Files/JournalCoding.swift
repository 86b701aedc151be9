import CZlib

/// Little-endian numbers of 8 bytes; strings preceded by their length, which is all ones for `nil`.
struct JournalWriter {
    private(set) var bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func write(_ number: UInt64) {
        withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
    }

    mutating func write(_ text: String?) {
        guard let text else { return write(UInt64.max) }
        write(UInt64(text.utf8.count))
        bytes += text.utf8
    }
}

/// Reads what ``JournalWriter`` wrote; returns `nil` for any other bytes.
struct JournalReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func number() -> UInt64? {
        guard rest.count >= 8 else { return nil }
        defer { rest = rest.dropFirst(8) }
        return rest.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The inner `nil` is a `nil` that was written.
    mutating func text() -> String?? {
        guard let count = number() else { return nil }
        if count == .max { return .some(nil) }
        guard count <= UInt64(rest.count) else { return nil }
        let bytes = rest.prefix(Int(count))
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        rest = rest.dropFirst(Int(count))
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
