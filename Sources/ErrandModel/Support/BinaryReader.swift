/// Reads the values that ``BinaryWriter`` wrote, from untrusted bytes: `nil` for a part that is missing or incomplete.
package struct BinaryReader {
    private var rest: UnsafeRawBufferPointer

    /// The bytes must outlive the reader.
    package init(_ bytes: UnsafeRawBufferPointer) {
        rest = bytes
    }

    package var isAtEnd: Bool { rest.isEmpty }

    package mutating func raw(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count >= 0, count <= rest.count else { return nil }
        defer { rest = UnsafeRawBufferPointer(rebasing: rest[count...]) }
        return UnsafeRawBufferPointer(rebasing: rest[..<count])
    }

    package mutating func number<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
        raw(MemoryLayout<Number>.size).map { Number(littleEndian: $0.loadUnaligned(as: Number.self)) }
    }

    /// A count of items of at least one byte each. A count beyond the remaining bytes is rejected before memory is
    /// allocated.
    private mutating func count() -> Int? {
        guard let count = number(UInt32.self).flatMap(Int.init(exactly:)), count <= rest.count else { return nil }
        return count
    }

    package mutating func bytes() -> [UInt8]? {
        count().flatMap { raw($0) }.map { Array($0) }
    }

    package mutating func text() -> String? {
        count().flatMap { text($0) }
    }

    /// A text of that many bytes.
    package mutating func text(_ count: Int) -> String? {
        raw(count).flatMap { String(validating: $0.assumingMemoryBound(to: UInt8.self), as: UTF8.self) }
    }

    package mutating func texts() -> [String]? {
        guard let count = count() else { return nil }
        var texts: [String] = []
        for _ in 0..<count {
            guard let text = text() else { return nil }
            texts.append(text)
        }
        return texts
    }

    /// `.some(nil)` for a value that is not set; `nil` for a value that cannot be read.
    package mutating func optional<Value>(_ read: (inout BinaryReader) -> Value?) -> Value?? {
        switch number(UInt8.self) {
        case 0: .some(nil)
        case 1: read(&self).map { .some(.some($0)) } ?? .none
        default: .none
        }
    }
}
