import HTTPTypes

/// A client's default header fields as ready-made blocks, so that a command without fields of its own costs none.
struct HeaderDefaults: Sendable {
    private let fields: HTTPFields
    /// The block of `fields`.
    private let plain: HeaderBlock
    /// The same with the `Content-Type` of the commonest bodies.
    private let json: HeaderBlock
    private let form: HeaderBlock

    init(_ given: HTTPFields, userAgent: String?) {
        var fields = given
        if let userAgent, fields[.userAgent] == nil { fields[.userAgent] = userAgent }
        self.fields = fields
        plain = HeaderBlock(fields)
        json = Self.block(fields, HTTPFields(), "application/json")
        form = Self.block(fields, HTTPFields(), "application/x-www-form-urlencoded")
    }

    /// Defaults, then `own`, which replaces defaults of the same name, then `contentType` where neither has one.
    func block(_ own: HTTPFields, contentType: String?) -> HeaderBlock {
        guard own.isEmpty else { return Self.block(fields, own, contentType) }
        switch contentType {
        case nil: return plain
        case "application/json": return json
        case "application/x-www-form-urlencoded": return form
        default: return Self.block(fields, own, contentType)
        }
    }

    private static func block(_ defaults: HTTPFields, _ own: HTTPFields, _ contentType: String?) -> HeaderBlock {
        var bytes: [UInt8] = []
        for field in defaults where !own.contains(field.name) { bytes.appendLine(field) }
        for field in own { bytes.appendLine(field) }
        if let contentType, !own.contains(.contentType), !defaults.contains(.contentType) {
            bytes.appendLine(HTTPField(name: .contentType, value: contentType))
        }
        return HeaderBlock(bytes: bytes)
    }
}
