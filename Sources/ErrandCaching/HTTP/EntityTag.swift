/// An entity tag (RFC 9110 8.8.3).
struct EntityTag: Sendable, Hashable {
    /// What is between the quotes.
    let opaque: String
    let isWeak: Bool

    /// `nil` for what is no entity tag; `W/` is in upper case by the RFC.
    init?(_ value: String) {
        var bytes = FieldTokens.trimmed(Substring(value)).utf8[...]
        let isWeak = bytes.starts(with: "W/".utf8)
        if isWeak { bytes = bytes.dropFirst(2) }
        guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") else { return nil }
        let inner = bytes.dropFirst().dropLast()
        guard inner.allSatisfy({ $0 == 0x21 || $0 >= 0x23 && $0 != 0x7F }) else { return nil }
        opaque = String(Substring(inner))
        self.isWeak = isWeak
    }

    /// As it stands in a field.
    var text: String { (isWeak ? "W/\"" : "\"") + opaque + "\"" }

    /// RFC 9110 8.8.3.2: the same bytes, and neither is weak.
    func matchesStrongly(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && matchesWeakly(other)
    }

    /// By bytes: `String` takes a letter and its combining form for the same.
    func matchesWeakly(_ other: EntityTag) -> Bool {
        opaque.utf8.elementsEqual(other.opaque.utf8)
    }
}
