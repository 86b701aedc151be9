public import FoundationEssentials

extension Response {
    /// The body read as JSON. Throws ``ErrandError/responseDecodingFailed`` with Foundation's error beneath it.
    public func decode<Value: Decodable>(
        _ type: Value.Type, using decoder: JSONDecoder? = nil
    ) throws(ErrandError) -> Value {
        do {
            try JSONGuard.check(body)
            return try (decoder ?? SharedCoders.jsonDecoder).decode(type, from: body.data)
        } catch {
            throw ErrandError.responseDecodingFailed.with(
                message: "the body is not a JSON \(type): \(error)", response: self, underlying: error)
        }
    }
}
