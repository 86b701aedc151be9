import FoundationEssentials

extension Response {
    /// The body as any JSON value, a scalar included. An empty body and a single space, which Rails sends for
    /// `head :ok`, are `null`. Throws ``ErrandError/responseDecodingFailed`` for a body that is not JSON, or is nested
    /// deeper than 512 levels; the `underlyingError` is a `DecodingError`.
    public func json() throws(ErrandError) -> JSONValue {
        if isBlank { return .null }
        return try decode(JSONValue.self)
    }
}
