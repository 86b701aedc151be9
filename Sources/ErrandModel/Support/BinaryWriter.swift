/// Writes values one after another: numbers little endian, text and bytes after their length.
package struct BinaryWriter {
    package private(set) var output: [UInt8] = []
    /// False after a part was too long for its length field.
    package private(set) var isWhole = true

    package init(capacity: Int) {
        output.reserveCapacity(capacity)
    }

    /// Writes behind these bytes.
    package init(_ bytes: [UInt8]) {
        output = bytes
    }

    package mutating func raw(_ bytes: some Sequence<UInt8>) {
        output.append(contentsOf: bytes)
    }

    package mutating func number<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.littleEndian) { output.append(contentsOf: $0) }
    }

    package mutating func count(_ count: Int) {
        if UInt32(exactly: count) == nil { isWhole = false }
        number(UInt32(truncatingIfNeeded: count))
    }

    package mutating func bytes(_ bytes: [UInt8]) {
        count(bytes.count)
        output += bytes
    }

    package mutating func text(_ text: String) {
        count(text.utf8.count)
        output.append(contentsOf: text.utf8)
    }

    package mutating func texts(_ texts: [String]) {
        count(texts.count)
        for text in texts { self.text(text) }
    }

    package mutating func optional<Value>(_ value: Value?, _ write: (inout BinaryWriter, Value) -> Void) {
        number(UInt8(value == nil ? 0 : 1))
        if let value { write(&self, value) }
    }
}
