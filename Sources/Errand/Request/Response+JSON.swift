import FoundationEssentials

extension Response {
    /// The body as whatever JSON value it is, a scalar included. An empty body and one of a single space, which Rails
    /// sends for `head :ok`, are `null`. Throws ``ErrandError/responseDecodingFailed`` with Foundation's error beneath it
    /// for what is no JSON, or is nested deeper than Foundation's decoder goes (512 levels).
    public func json() throws(ErrandError) -> JSONValue {
        if body.count <= 1, body.withBytes({ $0.first.map { $0 == 0x20 } ?? true }) { return .null }
        return try decode(JSONValue.self)
    }
}
