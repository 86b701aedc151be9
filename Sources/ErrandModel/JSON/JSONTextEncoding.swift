/// The encoding of JSON text, detected from its first bytes as in Foundation: by a byte order mark, otherwise by the
/// positions of zeros, because the first character is ASCII (RFC 4627 3). RFC 8259 8.1 allows UTF-8 only.
enum JSONTextEncoding: Equatable {
    case utf8
    case utf16(isBigEndian: Bool)
    case utf32(isBigEndian: Bool)

    /// The encoding, and the length of the byte order mark.
    static func of(_ text: UnsafeRawBufferPointer) -> (encoding: JSONTextEncoding, markLength: Int) {
        if text.starts(with: [0x00, 0x00, 0xFE, 0xFF]) { return (.utf32(isBigEndian: true), 4) }
        if text.starts(with: [0xFF, 0xFE, 0x00, 0x00]) { return (.utf32(isBigEndian: false), 4) }
        switch TextEncoding.byteOrderMark(text) {
        case (.utf16(let isBigEndian), let length)?: return (.utf16(isBigEndian: isBigEndian), length)
        case (_, let length)?: return (.utf8, length)
        case nil: return (withoutMark(text), 0)
        }
    }

    private static func withoutMark(_ text: UnsafeRawBufferPointer) -> JSONTextEncoding {
        // Text in UTF-16 does not have two zeros in a row.
        switch text.prefix(4).map({ $0 == 0 }) {
        case [true, true, true, false]: .utf32(isBigEndian: true)
        case [false, true, true, true]: .utf32(isBigEndian: false)
        case let zeros where zeros.count >= 2 && zeros[0] != zeros[1]: .utf16(isBigEndian: zeros[0])
        default: .utf8
        }
    }

    /// The same text in UTF-8; `nil` if it is invalid, or its last unit is truncated.
    func utf8(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        switch self {
        case .utf8:
            return Array(text)
        case .utf16(let isBigEndian):
            let converted = try? TextEncoding.utf16(isBigEndian: isBigEndian).decode(text, isLossy: false)
            return converted.map { Array($0.utf8) }
        case .utf32(let isBigEndian):
            guard text.count % 4 == 0 else { return nil }
            var converted: [UInt8] = []
            converted.reserveCapacity(text.count / 4)
            for offset in stride(from: 0, to: text.count, by: 4) {
                let unit = text.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                guard let scalar = Unicode.Scalar(isBigEndian ? UInt32(bigEndian: unit) : UInt32(littleEndian: unit)),
                    let bytes = UTF8.encode(scalar)
                else { return nil }
                converted.append(contentsOf: bytes)
            }
            return converted
        }
    }
}
