public import FoundationEssentials
public import HTTPTypes

// Conversions for members of common types other than the engine's own.

extension Command where MethodMember == String {
    /// Converts the text. Throws ``ErrandError/invalidMethod`` if it is no HTTP token.
    public var givenMethod: HTTPRequest.Method { get throws(ErrandError) { try .checked(method) } }
}

extension Command where BodyMember == Data {
    /// Sends the data as ``RequestBody/data(_:contentType:)``.
    public var givenBody: RequestBody { .data(body) }
}

extension Command where BodyMember == [UInt8] {
    /// Sends the bytes as ``RequestBody/bytes(_:contentType:)``.
    public var givenBody: RequestBody { .bytes(body) }
}

extension Command where BodyMember == String {
    /// Sends the text as ``RequestBody/string(_:contentType:)``.
    public var givenBody: RequestBody { .string(body) }
}

extension Command where BodyMember == RequestBody? {
    /// The body; `nil`: no body.
    public var givenBody: RequestBody { body ?? .empty }
}

extension Command where QueryMember == [String: String] {
    /// The items sorted by name, because a dictionary has no order.
    public var givenQuery: [QueryItem] { query.sorted { $0.key < $1.key }.map { QueryItem($0.key, $0.value) } }
}

extension Command where QueryMember == [String: String?] {
    /// The items sorted by name, because a dictionary has no order.
    public var givenQuery: [QueryItem] { query.sorted { $0.key < $1.key }.map { QueryItem($0.key, $0.value) } }
}

extension Command where QueryMember == KeyValuePairs<String, String> {
    /// The items in the given order.
    public var givenQuery: [QueryItem] { query.map { QueryItem($0.key, $0.value) } }
}

extension Command where QueryMember == [(String, String)] {
    /// The items in the given order.
    public var givenQuery: [QueryItem] { query.map { QueryItem($0.0, $0.1) } }
}

extension Command where QueryMember == [(String, String?)] {
    /// The items in the given order.
    public var givenQuery: [QueryItem] { query.map { QueryItem($0.0, $0.1) } }
}

extension Command where HeadersMember == [String: String] {
    /// The fields sorted by name. Throws ``ErrandError/invalidHeader`` if a name is no token, or a value contains CR,
    /// LF or NUL.
    public var givenHeaders: HTTPFields { get throws(ErrandError) { try .checked(headers.sorted { $0.key < $1.key }) } }
}

extension Command where HeadersMember == [HTTPField.Name: String] {
    /// The fields sorted by name. Throws ``ErrandError/invalidHeader`` if a name is no token, or a value contains CR,
    /// LF or NUL.
    public var givenHeaders: HTTPFields {
        get throws(ErrandError) { try .checked(headers.map { ($0.key.rawName, $0.value) }.sorted { $0.0 < $1.0 }) }
    }
}

extension Command where HeadersMember == KeyValuePairs<String, String> {
    /// The fields in the given order. Throws ``ErrandError/invalidHeader`` if a name is no token, or a value contains
    /// CR, LF or NUL.
    public var givenHeaders: HTTPFields { get throws(ErrandError) { try .checked(headers.map { ($0.key, $0.value) }) } }
}

extension Command where HeadersMember == [(String, String)] {
    /// The fields in the given order. Throws ``ErrandError/invalidHeader`` if a name is no token, or a value contains
    /// CR, LF or NUL.
    public var givenHeaders: HTTPFields { get throws(ErrandError) { try .checked(headers) } }
}

extension Command where HeadersMember == [HTTPField] {
    /// The fields in the given order.
    public var givenHeaders: HTTPFields { get throws(ErrandError) { HTTPFields(headers) } }
}

extension Command where AcceptedStatusCodesMember == ClosedRange<Int> {
    /// Accepts the statuses of this range.
    public var givenAcceptedStatusCodes: StatusCodes { .in(acceptedStatusCodes) }
}

extension Command where AcceptedStatusCodesMember == [Int] {
    /// Accepts these statuses.
    public var givenAcceptedStatusCodes: StatusCodes { .of(acceptedStatusCodes) }
}

extension Command where AcceptedContentTypesMember == [String] {
    /// Accepts these types.
    public var givenAcceptedContentTypes: ContentTypes { .of(acceptedContentTypes) }
}

extension Command where InterceptorsMember: Sequence, InterceptorsMember.Element: Interceptor {
    /// The interceptors in the given order.
    public var givenInterceptors: [any Interceptor] { Array(interceptors) }
}

extension HTTPRequest.Method {
    static func checked(_ text: String) throws(ErrandError) -> HTTPRequest.Method {
        guard let method = HTTPRequest.Method(rawValue: text) else {
            throw ErrandError.invalidMethod.with(
                message: "\(text.debugDescription) is not an HTTP method", isRefusal: true)
        }
        return method
    }
}

extension HTTPFields {
    static func checked(_ pairs: [(String, String)]) throws(ErrandError) -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in pairs { fields.append(try .checked(name: name, value: value)) }
        return fields
    }
}
