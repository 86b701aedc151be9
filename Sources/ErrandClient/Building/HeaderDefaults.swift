package import HTTPTypes

/// A client's default header fields as ready-made blocks, so that a command without fields of its own has no cost for
/// them. A class, so that a request retains one object instead of its ten members.
package final class HeaderDefaults: Sendable {
    private let fields: HTTPFields
    /// Whether the default `Authorization` field comes from ``Client/Settings/authorization`` and may therefore be
    /// replaced.
    private let hasAuthorization: Bool
    /// Whether ``Client/Settings/headers`` has an `Authorization` field, which no ``Authorization`` replaces.
    private let isAuthorizationGiven: Bool
    /// The part of ``Client/Settings/authorization`` that the engine handles.
    private let authentication: ServerAuthentication?
    /// The block of `fields`.
    private let plain: HeaderBlock
    /// The same block with the `Content-Type` of the most common bodies.
    private let json: HeaderBlock
    private let form: HeaderBlock

    /// `authorized`: include ``Client/Settings/authorization``. Throws ``ErrandError/invalidHeader``.
    package init(_ settings: Client.Settings, authorized: Bool = true) throws(ErrandError) {
        let authorization = authorized ? settings.authorization : nil
        var fields = settings.headers
        if let userAgent = settings.userAgent, fields[.userAgent] == nil {
            fields.append(try .checked(name: "User-Agent", value: userAgent))
        }
        if let languages = try PreferredLanguages.header(settings.languages), fields[.acceptLanguage] == nil {
            fields[.acceptLanguage] = languages
        }
        isAuthorizationGiven = fields.contains(.authorization)
        hasAuthorization = !isAuthorizationGiven && authorization != nil
        authentication = isAuthorizationGiven ? nil : try authorization?.challenged()
        if hasAuthorization, let value = try authorization?.header() { fields.append(.authorization(value)) }
        self.fields = fields
        plain = HeaderBlock(fields)
        json = try Self.block(fields, HTTPFields(), WireBody(body: .none, contentType: "application/json"))
        form = try Self.block(
            fields, HTTPFields(), WireBody(body: .none, contentType: "application/x-www-form-urlencoded"))
    }

    /// The command's own fields and credentials; `nil`: it has none.
    package typealias Own = (fields: HTTPFields, authorization: Authorization?)

    /// Builds the block in this order: the defaults; the command's own fields, which replace defaults of the same name;
    /// the body's fields, if neither has a field of that name. `wire`: `nil` for no body. Throws
    /// ``ErrandError/invalidHeader``.
    package func block(_ own: Own, _ wire: WireBody?) throws(ErrandError) -> HeaderBlock {
        if own.fields.isEmpty, own.authorization == nil, wire?.contentEncoding == nil {
            switch wire?.contentType {
            case nil: return plain
            case "application/json": return json
            case "application/x-www-form-urlencoded": return form
            default: break
            }
        }
        let wire = wire ?? WireBody(body: .none)
        var defaults = fields
        var ownFields = own.fields
        if let authorization = own.authorization, !ownFields.contains(.authorization) {
            // The command's authorization of any kind replaces the client's, but not an `Authorization` field given by
            // name.
            if hasAuthorization { defaults[.authorization] = nil }
            if !defaults.contains(.authorization), let value = try authorization.header() {
                ownFields.append(.authorization(value))
            }
        }
        if let encoding = wire.contentEncoding, !ownFields.contains(.contentEncoding) {
            ownFields[.contentEncoding] = encoding
        }
        return try Self.block(defaults, ownFields, wire)
    }

    /// The credentials that the engine answers a challenge with; `nil` if an `Authorization` field is sent, or there
    /// are none.
    package func authentication(_ own: Own) throws(ErrandError) -> ServerAuthentication? {
        if own.authorization == nil, authentication == nil { return nil }
        guard !isAuthorizationGiven, !own.fields.contains(.authorization) else { return nil }
        guard let authorization = own.authorization else { return authentication }
        return try authorization.challenged()
    }

    private static func block(
        _ defaults: HTTPFields, _ own: HTTPFields, _ wire: WireBody
    ) throws(ErrandError) -> HeaderBlock {
        var defaults = defaults
        var own = own
        if let boundary = wire.boundary { try MultipartType.give(boundary, to: &own, &defaults) }
        var bytes: [UInt8] = []
        // Enough room for most requests, so that lines of usual length need no reallocation.
        bytes.reserveCapacity((defaults.count + own.count + 1) * 48)
        for field in defaults where !own.contains(field.name) { bytes.appendLine(field) }
        for field in own { bytes.appendLine(field) }
        if let contentType = wire.contentType, !own.contains(.contentType), !defaults.contains(.contentType) {
            bytes.appendLine(try .checked(name: "Content-Type", value: contentType))
        }
        return HeaderBlock(bytes: bytes)
    }

    /// The block of a request that uses no defaults.
    package static func block(of fields: HTTPFields, _ wire: WireBody) throws(ErrandError) -> HeaderBlock {
        var fields = fields
        if let encoding = wire.contentEncoding, !fields.contains(.contentEncoding) {
            fields[.contentEncoding] = encoding
        }
        return try block(HTTPFields(), fields, wire)
    }
}

extension HTTPField {
    /// Lenient, because a UTF-8 token or name is sent unchanged; the value was checked before.
    package static func authorization(_ value: String) -> HTTPField {
        HTTPField(name: .authorization, lenientValue: Array(value.utf8))
    }
}
