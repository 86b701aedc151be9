public import FoundationEssentials

extension Command where AcceptedStatusCodesMember == StatusCodes {
    /// The default: the client's accepted statuses.
    @inlinable public var acceptedStatusCodes: StatusCodes { .inherited }
}

extension Command where AcceptedContentTypesMember == ContentTypes {
    /// The default: the client's accepted content types.
    @inlinable public var acceptedContentTypes: ContentTypes { .inherited }
}

extension Command where JSONDecoderMember == JSONDecoder {
    /// The default: the client's decoder.
    public var jsonDecoder: JSONDecoder { SharedCoders.jsonDecoder }
}

extension Command where ShapeMember == JSONShape? {
    /// The default: no shape check.
    @inlinable public var shape: JSONShape? { nil }
}

// None of these extensions names a concrete type: a command that declares no `Response` must get the default.

extension Command where Response: Decodable {
    /// Decodes the body as JSON. Throws ``ErrandError/responseDecodingFailed``.
    public func decode(_ response: ErrandModel.Response) throws -> Response {
        try response.decode(Response.self, using: decoder(for: response))
    }
}

extension Command {
    /// The decoder for `response`; `nil`: the decoder that the response carries.
    fileprivate func decoder(for response: ErrandModel.Response) -> JSONDecoder? {
        if response.decoder?.isOverride == true { return nil }
        return givenJSONDecoder
    }
}

extension Command where Response: ResponseConvertible {
    /// Converts the response without JSON decoding.
    public func decode(_ response: ErrandModel.Response) throws -> Response {
        try Response(response: response)
    }
}

extension Command where Response: ResponseConvertible & Decodable {
    /// Converts the response without JSON decoding, although the type is `Decodable` too.
    public func decode(_ response: ErrandModel.Response) throws -> Response {
        try Response(response: response)
    }
}
