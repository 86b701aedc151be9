extension TextEncoding {
    /// Why bytes are not text.
    enum Failure: Error, Hashable {
        /// The position of the first invalid byte; `nil` if only the whole is known to be invalid.
        case invalid(offset: Int?)
        /// The C library does not have this converter.
        case unavailable
    }

    /// The text of the bytes; if `isLossy`, with U+FFFD for invalid bytes.
    func decode(_ bytes: UnsafeRawBufferPointer, isLossy: Bool) throws(Failure) -> String {
        switch self {
        case .utf8:
            if isLossy { return String(decoding: bytes, as: UTF8.self) }
            guard let text = String(validating: bytes, as: UTF8.self) else { throw .invalid(offset: nil) }
            return text
        case .utf16(let isBigEndian):
            return try Self.utf16(bytes, isBigEndian: isBigEndian, isLossy: isLossy)
        case .windows1252:
            return String(String.UnicodeScalarView(bytes.lazy.map(Self.windows1252)))
        case .iconv(let name):
            guard let converter = CharacterConverter(from: name) else { throw .unavailable }
            return try converter.convert(bytes, isLossy: isLossy)
        }
    }

    private static func utf16(
        _ bytes: UnsafeRawBufferPointer, isBigEndian: Bool, isLossy: Bool
    ) throws(Failure) -> String {
        let (high, low) = isBigEndian ? (0, 1) : (1, 0)
        let units: [UInt16] = (0..<bytes.count / 2).map { index in
            UInt16(bytes[2 * index + high]) << 8 | UInt16(bytes[2 * index + low])
        }
        let isOdd = bytes.count % 2 == 1
        if isLossy { return String(decoding: units, as: UTF16.self) + (isOdd ? "\u{FFFD}" : "") }
        guard !isOdd else { throw .invalid(offset: bytes.count - 1) }
        guard let text = String(validating: units, as: UTF16.self) else { throw .invalid(offset: nil) }
        return text
    }

    /// Every byte is a character: the five bytes that Microsoft left undefined are C1 controls, as in WHATWG's index.
    private static func windows1252(_ byte: UInt8) -> Unicode.Scalar {
        (0x80...0x9F).contains(byte) ? windows1252Middle[Int(byte) - 0x80] : Unicode.Scalar(byte)
    }

    private static let windows1252Middle: [Unicode.Scalar] = [
        "\u{20AC}", "\u{81}", "\u{201A}", "\u{192}", "\u{201E}", "\u{2026}", "\u{2020}", "\u{2021}",
        "\u{2C6}", "\u{2030}", "\u{160}", "\u{2039}", "\u{152}", "\u{8D}", "\u{17D}", "\u{8F}",
        "\u{90}", "\u{2018}", "\u{2019}", "\u{201C}", "\u{201D}", "\u{2022}", "\u{2013}", "\u{2014}",
        "\u{2DC}", "\u{2122}", "\u{161}", "\u{203A}", "\u{153}", "\u{9D}", "\u{17E}", "\u{178}",
    ]
}
