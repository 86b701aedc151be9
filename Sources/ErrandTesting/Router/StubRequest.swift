public import Errand
public import HTTPTypes

/// A request that a route of a ``StubRouter`` answers.
public struct StubRequest: Sendable {
    /// The method.
    public let method: HTTPRequest.Method
    /// The absolute URL.
    public let url: String
    /// The parameters of the route's path by name, decoded: `id` for `/users/{id}`.
    public let parameters: [String: String]
    /// The header fields.
    public let headers: HTTPFields
    /// The whole body, even if it was streamed or comes from a file. Empty if ``isBodyDropped``.
    public private(set) var body: [UInt8]
    /// Everything that a transport gets: settings, delivery, options.
    public private(set) var transfer: RequestDescription
    /// Whether a ``CallHistory`` has dropped the body of this old request, to make room for later ones.
    public private(set) var isBodyDropped = false

    init(_ transfer: RequestDescription, body: [UInt8], parameters: [String: String]) {
        method = transfer.method
        url = transfer.url
        self.parameters = parameters
        headers = transfer.headers.fields
        self.body = body
        self.transfer = transfer
    }

    /// Drops the body.
    mutating func dropBody() {
        guard !body.isEmpty else { return }
        body = []
        isBodyDropped = true
        switch transfer.body {
        // These refer to the bytes too.
        case .bytes, .data, .shared: transfer.body = .none
        case .none, .file, .stream, .source: break
        }
    }

    /// The path of the URL, not decoded.
    public var path: String { String(URLReference(url).path) }

    /// The items of the query in order, decoded.
    public var query: [QueryItem] {
        (URLReference(url).query ?? "").split(separator: "&").map { item in
            let name = item.prefix { $0 != "=" }
            let value = name.endIndex == item.endIndex ? nil : PercentEncoding.decoded(item.dropFirst(name.count + 1))
            return QueryItem(PercentEncoding.decoded(name), value)
        }
    }

    /// The value of the first query item of that name, decoded; `nil`: there is none, or it has no value.
    public func queryValue(_ name: String) -> String? {
        query.first { $0.name == name }?.value
    }

    /// The value of a header field; several fields of the name are joined by commas.
    public func header(_ name: HTTPField.Name) -> String? { headers[name] }

    /// The body as text. Bytes that are not UTF-8 are replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as JSON. Throws ``/Errand/ErrandError/responseDecodingFailed`` if it is not JSON.
    public func json() throws(ErrandError) -> JSONValue {
        try Response(statusCode: 200, body: body).json()
    }

    /// The body decoded from JSON. Throws ``/Errand/ErrandError/responseDecodingFailed`` if it cannot be decoded.
    public func decode<Value: Decodable>(_ type: Value.Type) throws(ErrandError) -> Value {
        try Response(statusCode: 200, body: body).decode(type)
    }
}
