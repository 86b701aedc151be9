/// Writes the parts of a record one after another.
struct CacheRecordWriter {
    private(set) var output: [UInt8] = []
    /// False after a part was too long for its length field.
    private(set) var isWhole = true

    init(capacity: Int) {
        output.reserveCapacity(capacity)
    }

    mutating func raw(_ bytes: [UInt8]) {
        output += bytes
    }

    mutating func number<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.littleEndian) { output.append(contentsOf: $0) }
    }

    mutating func count(_ count: Int) {
        if UInt32(exactly: count) == nil { isWhole = false }
        number(UInt32(truncatingIfNeeded: count))
    }

    mutating func bytes(_ bytes: [UInt8]) {
        count(bytes.count)
        output += bytes
    }

    mutating func text(_ text: String) {
        count(text.utf8.count)
        output.append(contentsOf: text.utf8)
    }

    mutating func texts(_ texts: [String]) {
        count(texts.count)
        for text in texts { self.text(text) }
    }

    mutating func optional<Value>(_ value: Value?, _ write: (inout CacheRecordWriter, Value) -> Void) {
        number(UInt8(value == nil ? 0 : 1))
        if let value { write(&self, value) }
    }
}
