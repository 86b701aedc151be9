extension Redaction {
    /// A text without the secrets of the URLs in it, whatever the text around them is: the users of URLs are hidden, and
    /// the values of secret parameters are replaced.
    package func text(_ text: String) -> String {
        guard !isNone, Self.mark(in: text[...]) != nil else { return text }
        var result = ""
        var rest = text[...]
        while !rest.isEmpty {
            // No URL has a blank or a line break.
            let word = rest.prefix { !$0.isWhitespace }
            result += self.word(word)
            rest = rest[word.endIndex...]
            let gap = rest.prefix { $0.isWhitespace }
            result += gap
            rest = rest[gap.endIndex...]
        }
        return result
    }

    /// The most URLs that are looked at in one word; the rest of the word is hidden.
    private static let mostURLs = 16

    /// Characters that may follow a URL.
    private static let closing: Set<Character> = [
        "'", "\"", "`", "(", ")", "[", "]", "{", "}", "<", ">", ",", ";", ".", "!",
    ]

    private func word(_ word: Substring) -> String {
        var result = ""
        var rest = word
        for _ in 0..<Self.mostURLs {
            guard let mark = Self.mark(in: rest) else { return result + rest }
            let before = rest[..<mark.lowerBound]
            let start = before.lastIndex { !Self.isOfScheme($0) }.map { rest.index(after: $0) } ?? rest.startIndex
            result += rest[..<start]
            let shown = urlWithin(rest[start...])
            guard let end = Self.mark(in: shown[...])?.upperBound else { return result + shown }
            result += shown[..<end]
            // Another URL may follow in the same word.
            rest = shown[end...]
        }
        return Self.mark(in: rest) == nil ? result + rest : result + Self.placeholder
    }

    /// A URL and the text that follows it, without its secrets.
    private func urlWithin(_ text: Substring) -> String {
        let end = text.lastIndex { !Self.closing.contains($0) }.map { text.index(after: $0) } ?? text.startIndex
        return url(withoutUser(text[..<end])) + text[end...]
    }

    /// A password may contain a `/`, although it must not. Then the part that reads as the authority has no `@`, and its
    /// port is no number.
    private func withoutUser(_ text: Substring) -> String {
        guard hidesCredentials, let mark = Self.mark(in: text) else { return String(text) }
        let rest = text[mark.upperBound...]
        let authority = rest.prefix { !"/?#\\".contains($0) }
        let end = authority.lastIndex(of: "@") ?? (Self.hasBrokenPort(authority) ? rest.lastIndex(of: "@") : nil)
        guard let end else { return String(text) }
        return String(text[..<mark.upperBound]) + Self.placeholder + rest[end...]
    }

    private static func hasBrokenPort(_ authority: Substring) -> Bool {
        guard !authority.hasPrefix("["), let colon = authority.lastIndex(of: ":") else { return false }
        let port = authority[colon...].dropFirst()
        return port.isEmpty || port.contains { !("0"..."9").contains($0) }
    }

    private static func isOfScheme(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || "+-.".contains(character))
    }

    /// The first `://`.
    private static func mark(in text: Substring) -> Range<Substring.Index>? {
        let bytes = text.utf8
        var start = bytes.startIndex
        while let colon = bytes[start...].firstIndex(of: UInt8(ascii: ":")) {
            let next = bytes.index(after: colon)
            if bytes[next...].starts(with: [UInt8(ascii: "/"), UInt8(ascii: "/")]) {
                return colon..<bytes.index(next, offsetBy: 2)
            }
            start = next
        }
        return nil
    }
}
