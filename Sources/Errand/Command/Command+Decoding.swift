public import FoundationEssentials

extension Command where Response == Errand.Response {
    /// The response itself.
    public func decode(_ response: Errand.Response) throws -> Response {
        response
    }
}

extension Command where Response: Decodable {
    /// The body read as JSON. Throws ``ErrandError/responseDecodingFailed``.
    public func decode(_ response: Errand.Response) throws -> Response {
        try response.decode(Response.self, using: jsonDecoder)
    }
}

extension Command where Response == Data {
    /// The body's bytes; they are not copied.
    public func decode(_ response: Errand.Response) throws -> Response {
        response.body.data
    }
}

extension Command where Response == [UInt8] {
    /// A copy of the body's bytes.
    public func decode(_ response: Errand.Response) throws -> Response {
        response.body.bytes
    }
}

extension Command where Response == String {
    /// The body as text; throws ``ErrandError/responseDecodingFailed`` where it is not valid in its charset.
    public func decode(_ response: Errand.Response) throws -> Response {
        try response.text()
    }
}

extension Command where Response == NoContent {
    /// Nothing; the body is ignored.
    public func decode(_ response: Errand.Response) throws -> Response {
        NoContent()
    }
}
