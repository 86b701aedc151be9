/// What JSON text is encoded in, told from its first bytes as Foundation does: by a byte order mark, else by where the
/// zeros stand, as the first character is ASCII (RFC 4627 3). RFC 8259 8.1 knows UTF-8 alone.
enum JSONTextEncoding: Equatable {
    case utf8
    case utf16(isBigEndian: Bool)
    case utf32(isBigEndian: Bool)

    /// And the byte order mark's length.
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
        // Two zeros in a row are no text in UTF-16.
        switch text.prefix(4).map({ $0 == 0 }) {
        case [true, true, true, false]: .utf32(isBigEndian: true)
        case [false, true, true, true]: .utf32(isBigEndian: false)
        case let zeros where zeros.count >= 2 && zeros[0] != zeros[1]: .utf16(isBigEndian: zeros[0])
        default: .utf8
        }
    }

    /// The same text in UTF-8; `nil` where it is not valid, or its last unit is cut off.
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
