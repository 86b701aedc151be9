/// An entity tag (RFC 9110 8.8.3).
package struct EntityTag: Sendable, Hashable {
    /// The characters between the quotes.
    package let opaque: String
    package let isWeak: Bool

    /// `nil` where `value` is no entity tag. `W/` is case-sensitive (RFC 9110 8.8.3).
    package init?(_ value: String) {
        var bytes = FieldTokens.trimmed(Substring(value)).utf8[...]
        let isWeak = bytes.starts(with: "W/".utf8)
        if isWeak { bytes = bytes.dropFirst(2) }
        guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") else { return nil }
        let inner = bytes.dropFirst().dropLast()
        guard inner.allSatisfy({ $0 == 0x21 || $0 >= 0x23 && $0 != 0x7F }) else { return nil }
        opaque = String(Substring(inner))
        self.isWeak = isWeak
    }

    /// The tag as written in a field.
    package var text: String { (isWeak ? "W/\"" : "\"") + opaque + "\"" }

    /// RFC 9110 8.8.3.2: the bytes are equal, and neither tag is weak.
    package func matchesStrongly(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && matchesWeakly(other)
    }

    /// Compares bytes: `String` treats a letter and its combining form as equal.
    package func matchesWeakly(_ other: EntityTag) -> Bool {
        opaque.utf8.elementsEqual(other.opaque.utf8)
    }
}
