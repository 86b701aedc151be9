public import HTTPTypes

/// Header fields as they cross the wire: `Name: value` lines, each ended by CRLF, in one array. Fields are parsed only
/// when they are read.
public struct HeaderBlock: Sendable, Hashable {
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The block of these fields.
    public init(_ fields: HTTPFields) {
        var bytes: [UInt8] = []
        for field in fields {
            bytes.appendLine(field)
        }
        self.bytes = bytes
    }

    /// No fields.
    public static let empty = HeaderBlock(bytes: [])

    /// The fields, parsed at each call. Lines that are not fields are left out.
    public var fields: HTTPFields {
        bytes.withUnsafeBytes { HeaderParser.fields($0) }
    }

    /// The value of the first field of that name, or `nil`.
    public subscript(name: HTTPField.Name) -> String? {
        bytes.withUnsafeBytes { HeaderParser.firstValue(of: name.canonicalName, in: $0) }
    }

    /// Replaces the fields of that name by one field at the end. Throws ``ErrandError/invalidHeader``, without a
    /// change, if the value contains CR, LF or NUL (RFC 9110 5.5).
    public mutating func set(_ name: HTTPField.Name, to value: String) throws(ErrandError) {
        self = try setting(name, to: value)
    }

    /// The same block with one field of that name, at the end. Throws ``ErrandError/invalidHeader`` if the value
    /// contains CR, LF or NUL (RFC 9110 5.5).
    public func setting(_ name: HTTPField.Name, to value: String) throws(ErrandError) -> HeaderBlock {
        let field = try HTTPField.checked(name: name.rawName, value: value)
        var bytes = removing(name).bytes
        bytes.appendLine(field)
        return HeaderBlock(bytes: bytes)
    }

    /// Removes all fields of that name.
    public mutating func remove(_ name: HTTPField.Name) {
        self = removing(name)
    }

    /// The same block without the fields of that name.
    public func removing(_ name: HTTPField.Name) -> HeaderBlock {
        removing([name.canonicalName])
    }

    /// The same block without the fields of those names, given in lower case.
    package func removing(_ names: [String]) -> HeaderBlock {
        guard
            names.contains(where: { name in
                bytes.withUnsafeBytes { HeaderParser.firstValue(of: name, in: $0) != nil }
            })
        else { return self }
        return HeaderBlock(HTTPFields(fields.filter { !names.contains($0.name.canonicalName) }))
    }
}

extension [UInt8] {
    /// Appends `Name: value` and CRLF.
    package mutating func appendLine(_ field: HTTPField) {
        // Appends the stored bytes, and single bytes for the separators: a literal of two bytes would allocate an
        // array.
        if field.name.rawName.utf8.withContiguousStorageIfAvailable({ append(contentsOf: $0) }) == nil {
            append(contentsOf: field.name.rawName.utf8)
        }
        append(0x3A)
        append(0x20)
        field.withUnsafeBytesOfValue { append(contentsOf: $0) }
        append(0x0D)
        append(0x0A)
    }
}

extension HeaderBlock: CustomStringConvertible, CustomDebugStringConvertible {
    /// One field per line; the values of secret fields are left out, see ``Redaction/secretHeaders``.
    public var description: String {
        Redaction.standard.fields(fields).map { "\($0.name): \($0.value)" }.joined(separator: "\n")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }
}
