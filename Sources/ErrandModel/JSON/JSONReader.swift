package import FoundationEssentials

/// The one way from JSON text to a value: nothing else in this library may call a `JSONDecoder`, so that no text gets
/// past ``JSONGuard``, text that was converted from another charset included.
package enum JSONReader {
    /// Throws what `decoder` throws.
    package static func value<Value: Decodable>(
        _ type: Value.Type, from text: Data, using decoder: JSONDecoder
    ) throws -> Value {
        if let value = try tree(type, from: text, using: decoder) { return value }
        try JSONGuard.check(text)
        return try decoder.decode(type, from: text)
    }

    /// What needs no decoder, as no option of it applies; `nil` for other types.
    private static func tree<Value>(
        _ type: Value.Type, from text: Data, using decoder: JSONDecoder
    ) throws(DecodingError) -> Value? {
        guard type == JSONValue.self || type == [JSONValue].self || type == [String: JSONValue].self else { return nil }
        guard !decoder.allowsJSON5, !decoder.assumesTopLevelDictionary else { return nil }
        switch try value(from: text) {
        case let value as Value: return value
        case .array(let elements): return elements as? Value
        case .object(let members): return members as? Value
        default: return nil
        }
    }

    /// Any JSON value, by the parser of our own.
    static func value(from text: Data) throws(DecodingError) -> JSONValue {
        do {
            return try text.withUnsafeBytes { try JSONParser.value(of: $0) }
        } catch {
            throw .dataCorrupted(.init(codingPath: [], debugDescription: "\(error)", underlyingError: error))
        }
    }
}
