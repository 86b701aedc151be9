/// Reads the parts of a record from untrusted bytes: `nil` for a part that is missing or incomplete.
struct CacheRecordReader {
    private var rest: UnsafeRawBufferPointer

    /// The bytes must outlive the reader.
    init(_ bytes: UnsafeRawBufferPointer) {
        rest = bytes
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func raw(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count >= 0, count <= rest.count else { return nil }
        defer { rest = UnsafeRawBufferPointer(rebasing: rest[count...]) }
        return UnsafeRawBufferPointer(rebasing: rest[..<count])
    }

    mutating func number<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
        raw(MemoryLayout<Number>.size).map { Number(littleEndian: $0.loadUnaligned(as: Number.self)) }
    }

    /// A count of items of at least one byte each. A count beyond the remaining bytes is rejected before memory is
    /// allocated.
    private mutating func count() -> Int? {
        guard let count = number(UInt32.self).flatMap(Int.init(exactly:)), count <= rest.count else { return nil }
        return count
    }

    mutating func bytes() -> [UInt8]? {
        count().flatMap { raw($0) }.map { Array($0) }
    }

    mutating func text() -> String? {
        guard let bytes = count().flatMap({ raw($0) }) else { return nil }
        return String(validating: bytes.assumingMemoryBound(to: UInt8.self), as: UTF8.self)
    }

    mutating func texts() -> [String]? {
        guard let count = count() else { return nil }
        var texts: [String] = []
        for _ in 0..<count {
            guard let text = text() else { return nil }
            texts.append(text)
        }
        return texts
    }

    /// `.some(nil)` for a value that is not set; `nil` for a value that cannot be read.
    mutating func optional<Value>(_ read: (inout CacheRecordReader) -> Value?) -> Value?? {
        switch number(UInt8.self) {
        case 0: .some(nil)
        case 1: read(&self).map { .some(.some($0)) } ?? .none
        default: .none
        }
    }
}
