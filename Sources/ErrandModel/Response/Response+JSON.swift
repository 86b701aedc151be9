import FoundationEssentials

extension Response {
    /// The body as whatever JSON value it is, a scalar included. An empty body and one of a single space, which Rails
    /// sends for `head :ok`, are `null`. Throws ``ErrandError/responseDecodingFailed`` with a `DecodingError` beneath
    /// it for what is no JSON, or is nested deeper than 512 levels.
    public func json() throws(ErrandError) -> JSONValue {
        if isBlank { return .null }
        return try decode(JSONValue.self)
    }
}
