extension JSONParser {
    /// RFC 8259 7. The index is at the opening quotation mark.
    mutating func string() throws(Failure) -> String {
        index += 1
        let start = index
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                defer { index += 1 }
                return try text(UnsafeBufferPointer(rebasing: bytes[start..<index]))
            case UInt8(ascii: "\\"):
                return try stringWithEscapes(from: start)
            case 0..<0x20:
                throw failure("unescaped control character in a string")
            default:
                index += 1
            }
        }
        throw failure("")
    }

    /// The same, after the first escape was found.
    private mutating func stringWithEscapes(from start: Int) throws(Failure) -> String {
        var unescaped = Array(bytes[start..<index])
        while index < bytes.count {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "\""):
                defer { index += 1 }
                return try text(unescaped)
            case UInt8(ascii: "\\"):
                try escape(&unescaped)
            case 0..<0x20:
                throw failure("unescaped control character in a string")
            default:
                unescaped.append(byte)
                index += 1
            }
        }
        throw failure("")
    }

    private func text(_ bytes: some Collection<UInt8>) throws(Failure) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw failure("invalid UTF-8 in a string")
        }
        return text
    }

    /// The index is at the reverse solidus.
    private mutating func escape(_ text: inout [UInt8]) throws(Failure) {
        index += 1
        guard index < bytes.count else { throw failure("") }
        switch bytes[index] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(bytes[index])
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            index += 1
            text.append(contentsOf: UTF8.encode(try escapedScalar()) ?? UTF8.encodedReplacementCharacter)
            return
        default: throw failure("unknown escape sequence")
        }
        index += 1
    }

    /// The text after `\u`: one unit of UTF-16, or a pair of surrogates.
    private mutating func escapedScalar() throws(Failure) -> Unicode.Scalar {
        let unit = try escapedUnit()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard UTF16.isLeadSurrogate(unit), bytes[index...].starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]) else {
            throw failure("unpaired surrogate")
        }
        index += 2
        let trail = try escapedUnit()
        guard UTF16.isTrailSurrogate(trail) else { throw failure("unpaired surrogate") }
        return UTF16.decode(UTF16.EncodedScalar([unit, trail]))
    }

    private mutating func escapedUnit() throws(Failure) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard index < bytes.count, let digit = Self.hexadecimal(bytes[index]) else {
                throw failure("Unicode escape without four hexadecimal digits")
            }
            unit = unit << 4 | digit
            index += 1
        }
        return unit
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt16? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt16(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt16(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt16(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }
}
