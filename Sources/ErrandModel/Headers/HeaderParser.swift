import Glibc
package import HTTPTypes

/// Reads header blocks. libcurl has already checked the framing. This parser finds lines, names and values, and
/// tolerates any bytes that a server sends.
package enum HeaderParser {
    private static let lineFeed: UInt8 = 0x0A
    private static let carriageReturn: UInt8 = 0x0D
    private static let colon: UInt8 = 0x3A

    /// The limit of fields; `HTTPFields` traps beyond 65,535.
    private static let mostFields = 60_000

    /// Calls `body` with name and value of each line until `body` stops it.
    private static func forEachField(
        _ block: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
    ) {
        var start = 0
        while start < block.count {
            let end = position(of: lineFeed, in: block, from: start, to: block.count) ?? block.count
            var stop = end
            if stop > start, block[stop - 1] == carriageReturn { stop -= 1 }
            if let colon = position(of: colon, in: block, from: start, to: stop) {
                var first = colon + 1
                while first < stop, FieldTokens.isBlank(block[first]) { first += 1 }
                var last = stop
                while last > first, FieldTokens.isBlank(block[last - 1]) { last -= 1 }
                let name = UnsafeRawBufferPointer(rebasing: block[start..<colon])
                guard body(name, UnsafeRawBufferPointer(rebasing: block[first..<last])) else { return }
            }
            start = end + 1
        }
    }

    /// Uses the C library's search, which looks at many bytes at once.
    private static func position(
        of byte: UInt8, in block: UnsafeRawBufferPointer, from start: Int, to end: Int
    ) -> Int? {
        guard start < end, let base = block.baseAddress, let found = memchr(base + start, Int32(byte), end - start)
        else { return nil }
        return UnsafeRawPointer(found) - base
    }

    package static func fields(_ block: UnsafeRawBufferPointer) -> HTTPFields {
        var fields = HTTPFields()
        var count = 0
        forEachField(block) { rawName, rawValue in
            if let name = HTTPField.Name(String(decoding: rawName, as: UTF8.self)) {
                fields.append(HTTPField(name: name, lenientValue: Array(rawValue)))
                count += 1
            }
            return count < mostFields
        }
        return fields
    }

    /// `name` is in lower case. With `byte`, the result is also `nil` if the value does not contain that byte; no
    /// text is made then.
    static func firstValue(
        of name: String, having byte: UInt8? = nil, in block: UnsafeRawBufferPointer
    ) -> String? {
        var found: String?
        forEachField(block) { rawName, rawValue in
            guard equalsLowercased(rawName, name) else { return true }
            if let byte, position(of: byte, in: rawValue, from: 0, to: rawValue.count) == nil { return false }
            found = text(rawValue)
            return false
        }
        return found
    }

    /// All values of each of these names, which are in lower case; empty if no field has any of these names.
    package static func values(of names: [String], in block: UnsafeRawBufferPointer) -> [[String]] {
        var values: [[String]] = []
        forEachField(block) { rawName, rawValue in
            for (place, name) in names.enumerated() where equalsLowercased(rawName, name) {
                if values.isEmpty { values = Array(repeating: [], count: names.count) }
                values[place].append(text(rawValue))
            }
            return true
        }
        return values
    }

    /// Whether there is a field of one of these names, which are in lower case.
    package static func hasField(of names: [String], in block: UnsafeRawBufferPointer) -> Bool {
        var isFound = false
        forEachField(block) { rawName, _ in
            for name in names where rawName.count == name.utf8.count && equalsLowercased(rawName, name) {
                isFound = true
            }
            return !isFound
        }
        return isFound
    }

    /// UTF-8 if it is valid, otherwise ISO 8859-1; RFC 9110 5.5 does not define the charset.
    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        String(validating: bytes, as: UTF8.self) ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    private static func equalsLowercased(_ bytes: UnsafeRawBufferPointer, _ name: String) -> Bool {
        guard bytes.count == name.utf8.count else { return false }
        return zip(bytes, name.utf8).allSatisfy { byte, expected in
            (0x41...0x5A).contains(byte) ? byte | 0x20 == expected : byte == expected
        }
    }
}
