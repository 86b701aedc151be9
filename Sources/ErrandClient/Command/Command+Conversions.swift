public import FoundationEssentials
public import HTTPTypes

// Members in the types that programs have at hand, beside those of the engine.

extension Command where MethodMember == String {
    /// Throws ``ErrandError/invalidMethod`` where it is no HTTP token.
    public var givenMethod: HTTPRequest.Method { get throws(ErrandError) { try .checked(method) } }
}

extension Command where BodyMember == Data {
    /// As ``RequestBody/data(_:contentType:)``.
    public var givenBody: RequestBody { .data(body) }
}

extension Command where BodyMember == [UInt8] {
    /// As ``RequestBody/bytes(_:contentType:)``.
    public var givenBody: RequestBody { .bytes(body) }
}

extension Command where BodyMember == String {
    /// As ``RequestBody/string(_:contentType:)``.
    public var givenBody: RequestBody { .string(body) }
}

extension Command where BodyMember == RequestBody? {
    /// `nil`: none.
    public var givenBody: RequestBody { body ?? .empty }
}

extension Command where QueryMember == [String: String] {
    /// Sorted by name, as a dictionary has no order.
    public var givenQuery: [QueryItem] { query.sorted { $0.key < $1.key }.map { QueryItem($0.key, $0.value) } }
}

extension Command where QueryMember == [String: String?] {
    /// Sorted by name, as a dictionary has no order.
    public var givenQuery: [QueryItem] { query.sorted { $0.key < $1.key }.map { QueryItem($0.key, $0.value) } }
}

extension Command where QueryMember == KeyValuePairs<String, String> {
    /// In this order.
    public var givenQuery: [QueryItem] { query.map { QueryItem($0.key, $0.value) } }
}

extension Command where QueryMember == [(String, String)] {
    /// In this order.
    public var givenQuery: [QueryItem] { query.map { QueryItem($0.0, $0.1) } }
}

extension Command where QueryMember == [(String, String?)] {
    /// In this order.
    public var givenQuery: [QueryItem] { query.map { QueryItem($0.0, $0.1) } }
}

extension Command where HeadersMember == [String: String] {
    /// Throws ``ErrandError/invalidHeader`` where a name is no token, or a value has CR, LF or NUL in it.
    public var givenHeaders: HTTPFields { get throws(ErrandError) { try .checked(headers.sorted { $0.key < $1.key }) } }
}

extension Command where HeadersMember == [HTTPField.Name: String] {
    /// Throws ``ErrandError/invalidHeader`` where a name is no token, or a value has CR, LF or NUL in it.
    public var givenHeaders: HTTPFields {
        get throws(ErrandError) { try .checked(headers.map { ($0.key.rawName, $0.value) }.sorted { $0.0 < $1.0 }) }
    }
}

extension Command where HeadersMember == KeyValuePairs<String, String> {
    /// Throws ``ErrandError/invalidHeader`` where a name is no token, or a value has CR, LF or NUL in it.
    public var givenHeaders: HTTPFields { get throws(ErrandError) { try .checked(headers.map { ($0.key, $0.value) }) } }
}

extension Command where HeadersMember == [(String, String)] {
    /// Throws ``ErrandError/invalidHeader`` where a name is no token, or a value has CR, LF or NUL in it.
    public var givenHeaders: HTTPFields { get throws(ErrandError) { try .checked(headers) } }
}

extension Command where HeadersMember == [HTTPField] {
    /// In this order.
    public var givenHeaders: HTTPFields { get throws(ErrandError) { HTTPFields(headers) } }
}

extension Command where AcceptedStatusCodesMember == ClosedRange<Int> {
    /// These statuses.
    public var givenAcceptedStatusCodes: StatusCodes { .in(acceptedStatusCodes) }
}

extension Command where AcceptedStatusCodesMember == [Int] {
    /// These statuses.
    public var givenAcceptedStatusCodes: StatusCodes { .of(acceptedStatusCodes) }
}

extension Command where AcceptedContentTypesMember == [String] {
    /// These types.
    public var givenAcceptedContentTypes: ContentTypes { .of(acceptedContentTypes) }
}

extension Command where InterceptorsMember: Sequence, InterceptorsMember.Element: Interceptor {
    /// In this order.
    public var givenInterceptors: [any Interceptor] { Array(interceptors) }
}

extension HTTPRequest.Method {
    fileprivate static func checked(_ text: String) throws(ErrandError) -> HTTPRequest.Method {
        guard let method = HTTPRequest.Method(rawValue: text) else {
            throw ErrandError.invalidMethod.with(
                message: "\(text.debugDescription) is not an HTTP method", isRefusal: true)
        }
        return method
    }
}

extension HTTPFields {
    fileprivate static func checked(_ pairs: [(String, String)]) throws(ErrandError) -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in pairs { fields.append(try .checked(name: name, value: value)) }
        return fields
    }
}
