/// Parses `Content-Disposition` (RFC 6266). The disposition type does not matter: a name also counts for `inline`.
enum ContentDisposition {
    /// The decodable `filename*`, else `filename` (RFC 6266 4.3), as the server sent it: not safe to use.
    static func fileName(in value: String) -> String? {
        var parameters = Parameters(value)
        var (plain, extended): (String?, String?)
        while let (name, value) = parameters.next() {
            // Each parameter name counts once (RFC 6266 4.1). The first value wins, so that a value appended later has
            // no effect.
            switch name {
            case "filename": if plain == nil { plain = value }
            case "filename*": if extended == nil { extended = decodingExtended(value) }
            default: break
            }
        }
        return extended ?? plain
    }

    /// RFC 8187 3.2.1: `UTF-8'en'%e2%82%ac`. `nil` if the value is malformed or has a charset that the RFC does not
    /// require.
    static func decodingExtended(_ value: String) -> String? {
        let parts = value.utf8.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = PercentEncoding.decodedStrictly(parts[2]) else { return nil }
        switch String(parts[0])?.lowercased() {
        case "utf-8": return String(validating: bytes, as: UTF8.self)
        case "iso-8859-1": return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        default: return nil
        }
    }

    /// The parameters behind the first semicolon, with names in lower case. Malformed parameters are skipped.
    private struct Parameters {
        private var scanner: FieldScanner

        init(_ value: String) {
            scanner = FieldScanner(value)
            scanner.skip { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: "=") }
            // Some servers omit the type.
            if scanner.isNext("=") { scanner.position = 0 }
        }

        mutating func next() -> (name: String, value: String)? {
            while true {
                scanner.skipBlanks(and: ";")
                guard !scanner.isAtEnd else { return nil }
                let name = scanner.text {
                    $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") && !FieldTokens.isBlank($0)
                }
                scanner.skipBlanks()
                guard scanner.take("=") else { continue }
                scanner.skipBlanks()
                guard let (quoted, isClosed) = scanner.quoted() else {
                    // A value up to the semicolon: many servers send spaces without quotes.
                    return (name?.lowercased() ?? "", scanner.text(to: ";"))
                }
                guard isClosed else { continue }
                scanner.skip(to: ";")
                return (name?.lowercased() ?? "", quoted)
            }
        }
    }
}
