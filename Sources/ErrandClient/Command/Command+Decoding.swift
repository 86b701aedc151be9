public import FoundationEssentials

extension Command where AcceptedStatusCodesMember == StatusCodes {
    /// The client's.
    @inlinable public var acceptedStatusCodes: StatusCodes { .inherited }
}

extension Command where AcceptedContentTypesMember == ContentTypes {
    /// The client's.
    @inlinable public var acceptedContentTypes: ContentTypes { .inherited }
}

extension Command where JSONDecoderMember == JSONDecoder {
    /// The client's.
    public var jsonDecoder: JSONDecoder { SharedCoders.jsonDecoder }
}

extension Command where ShapeMember == JSONShape? {
    /// None.
    @inlinable public var shape: JSONShape? { nil }
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
        return givenJSONDecoder
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
