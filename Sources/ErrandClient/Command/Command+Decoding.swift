public import FoundationEssentials

extension Command {
    /// The client's.
    public var acceptedStatusCodes: StatusCodes { .inherited }
    /// The client's.
    public var acceptedContentTypes: ContentTypes { .inherited }
    /// The client's.
    public var jsonDecoder: JSONDecoder { SharedCoders.jsonDecoder }
    /// None.
    public var shape: JSONShape? { nil }
}

// None of these says a concrete type: a command that names no `Response` has to fall to the default.

extension Command where Response: Decodable {
    /// The body read as JSON. Throws ``ErrandError/responseDecodingFailed``.
    public func decode(_ response: ErrandModel.Response) throws -> Response {
        try response.decode(Response.self, using: decoder(for: response))
    }
}

extension Command {
    /// `nil`: the response's.
    fileprivate func decoder(for response: ErrandModel.Response) -> JSONDecoder? {
        if response.decoder?.isOverride == true { return nil }
        return jsonDecoder
    }
}

extension Command where Response: ResponseConvertible {
    /// The response as it comes.
    public func decode(_ response: ErrandModel.Response) throws -> Response {
        try Response(response: response)
    }
}

extension Command where Response: ResponseConvertible & Decodable {
    /// The response as it comes, not as JSON.
    public func decode(_ response: ErrandModel.Response) throws -> Response {
        try Response(response: response)
    }
}
