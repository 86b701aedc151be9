import HTTPTypes

/// The request's values of the fields in a stored response's `Vary` (RFC 9111 4.1). The values may be secrets (cookies,
/// credentials), so only their `digest` is stored.
struct VaryValues: Sendable, Hashable {
    typealias Digest = @Sendable ([UInt8]) -> [UInt8]

    /// In lower case, sorted, without duplicates.
    let names: [String]
    /// Empty if there are no names.
    let digest: [UInt8]

    /// Values read from a store.
    init(names: [String], digest: [UInt8]) {
        self.names = names
        self.digest = digest
    }

    init(names: [String], request: HTTPFields, digest: Digest) {
        self.names = names
        self.digest = names.isEmpty ? [] : digest(Self.canonicalBytes(names, request))
    }

    func matches(_ request: HTTPFields, digest: Digest) -> Bool {
        names.isEmpty || self.digest == digest(Self.canonicalBytes(names, request))
    }

    /// The names in a response's `Vary`; `nil` for `*` and for a `Vary` that cannot be read: then no other request
    /// matches.
    static func names(_ response: HTTPFields) -> [String]? {
        var names: Set<String> = []
        for member in FieldTokens.members(response[values: .vary]) {
            guard let member, member != "*" else { return nil }
            names.insert(member)
        }
        return names.sorted()
    }

    /// The bytes are equal exactly for requests that match. A NUL ends each part, because no field contains one.
    private static func canonicalBytes(_ names: [String], _ request: HTTPFields) -> [UInt8] {
        var bytes: [UInt8] = []
        for name in names {
            bytes += name.utf8
            bytes.append(0)
            if let field = HTTPField.Name(name), request.contains(field) {
                bytes.append(1)
                bytes += normalized(request[values: field], of: name).utf8
            }
            bytes.append(0)
        }
        return bytes
    }

    /// RFC 9111 4.1: combines lines, and normalizes whitespace and case only where they are known to be insignificant.
    private static func normalized(_ values: [String], of name: String) -> String {
        let trimmed = values.map { FieldTokens.trimmed(Substring($0)) }
        let isList = ["accept", "accept-charset", "accept-encoding", "accept-language"].contains(name)
        guard isList, !trimmed.contains(where: { $0.utf8.contains(UInt8(ascii: "\"")) }) else {
            return trimmed.joined(separator: ", ")
        }
        let members = trimmed.flatMap { $0.utf8.split(separator: UInt8(ascii: ",")) }
            .map { FieldTokens.trimmed(Substring($0)) }
            .filter { !$0.isEmpty }
        let list = members.joined(separator: ", ")
        return name == "accept" ? list : list.lowercased()
    }
}
