import FoundationEssentials

/// The one way from JSON text to a value: nothing else in this library may call a `JSONDecoder`, so that no text gets
/// past ``JSONGuard``, text that was converted from another charset included.
enum JSONReader {
    static func value<Value: Decodable>(
        _ type: Value.Type, from text: Data, using decoder: JSONDecoder
    ) throws -> Value {
        try JSONGuard.check(text)
        return try decoder.decode(type, from: text)
    }
}
