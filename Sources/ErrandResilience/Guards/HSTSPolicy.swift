/// The value of a `Strict-Transport-Security` field (RFC 6797 6.1).
public struct HSTSPolicy: Sendable, Hashable {
    /// For how many seconds the host is to be reached by https alone. 0 ends the policy. At most 2^31 (68 years).
    public var maxAge: Int64
    /// Whether the policy also applies to all subdomains.
    public var includesSubdomains: Bool

    static let longestAge: Int64 = 1 << 31

    /// Makes a policy. Clamps `maxAge` to 0...2^31.
    public init(maxAge: Int64, includesSubdomains: Bool = false) {
        self.maxAge = maxAge.clamped(0...Self.longestAge)
        self.includesSubdomains = includesSubdomains
    }

    /// Reads the field's value. Returns `nil`, which leaves a known policy as it is, if `max-age` is missing or not a
    /// number, a directive occurs twice, `includeSubDomains` has a value, or the grammar is violated. Directives of
    /// other names are ignored. A `max-age` above 2^31 counts as 2^31.
    public init?(_ value: String) {
        var scanner = FieldScanner(value)
        var names: Set<String> = []
        var age: Int64?
        var includesSubdomains = false
        while true {
            scanner.skipBlanks(and: ";")
            if scanner.isAtEnd { break }
            guard let name = scanner.token()?.lowercased(), names.insert(name).inserted,
                let argument = Self.argument(&scanner)
            else { return nil }
            switch (name, argument) {
            case ("max-age", .text(let text)):
                guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
                age = min(Int64(text) ?? .max, Self.longestAge)
            case ("max-age", .none): return nil
            case ("includesubdomains", .none): includesSubdomains = true
            case ("includesubdomains", .text): return nil
            default: break
            }
            guard scanner.isAtEnd || scanner.isNext(";") else { return nil }
        }
        guard let age else { return nil }
        self.init(maxAge: age, includesSubdomains: includesSubdomains)
    }

    private enum Argument {
        case none
        case text(String)
    }

    /// The text after the name of a directive, with the blanks around it. `nil`: malformed.
    private static func argument(_ scanner: inout FieldScanner) -> Argument? {
        scanner.skipBlanks()
        guard scanner.take("=") else { return Argument.none }
        scanner.skipBlanks()
        defer { scanner.skipBlanks() }
        if let quoted = scanner.quoted() { return quoted.isClosed ? .text(quoted.text) : nil }
        return scanner.token().map { .text($0) }
    }
}
