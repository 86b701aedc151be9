import HTTPTypes

/// What a stored response depends on: the fields that its `Vary` names, as the request had them (RFC 9111 4.1). Their
/// values may be secrets (cookies, credentials): only what `digest` makes of them is kept.
struct VaryValues: Sendable, Hashable {
    typealias Digest = @Sendable ([UInt8]) -> [UInt8]

    /// In lower case, sorted, each once.
    let names: [String]
    /// Empty where there are no names.
    let digest: [UInt8]

    /// As read back from a store.
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

    /// The names in a response's `Vary`; `nil` where no other request can match: `*`, or what cannot be read.
    static func names(_ response: HTTPFields) -> [String]? {
        var names: Set<String> = []
        for member in FieldTokens.members(response[values: .vary]) {
            guard let member, member != "*" else { return nil }
            names.insert(member)
        }
        return names.sorted()
    }

    /// The same bytes exactly for requests that match. No field has a NUL in it, so that it ends each part.
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

    /// RFC 9111 4.1: lines combined; blanks and case only where they are known to mean nothing.
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
