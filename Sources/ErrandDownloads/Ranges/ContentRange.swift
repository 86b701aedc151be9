/// `Content-Range` of bytes (RFC 9110 14.4).
struct ContentRange: Sendable, Hashable {
    /// The range of a 206; `nil` for the `*` of a 416.
    let range: Range<Int64>?
    /// The length of the whole content; `nil` if the server does not know it.
    let total: Int64?

    init(_ range: Range<Int64>?, total: Int64?) {
        self.range = range
        self.total = total
    }

    /// `nil` for a value that is malformed or has another unit.
    init?(_ value: String) {
        let words = value.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        total = Self.number(parts[1])
        guard total != nil || parts[1] == "*" else { return nil }
        if parts[0] == "*" {
            guard total != nil else { return nil }
            range = nil
            return
        }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            last < total ?? .max
        else { return nil }
        range = first..<last + 1
    }

    /// Accepts digits only: `Int64.init` accepts signs, too.
    static func number(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }
}
