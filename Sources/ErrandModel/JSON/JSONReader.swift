package import FoundationEssentials

/// The only way from JSON text to a value. No other code of this library may call a `JSONDecoder`, so that all text
/// passes ``JSONGuard``, including text that was converted from another charset.
package enum JSONReader {
    /// Throws the error of `decoder`.
    package static func value<Value: Decodable>(
        _ type: Value.Type, from text: Data, using decoder: JSONDecoder
    ) throws -> Value {
        if let value = try tree(type, from: text, using: decoder) { return value }
        try JSONGuard.check(text)
        return try decoder.decode(type, from: text)
    }

    /// The value of a type that needs no decoder, if no option of the decoder applies; `nil` for other types.
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

    /// Any JSON value, read by ``JSONParser``.
    static func value(from text: Data) throws(DecodingError) -> JSONValue {
        do {
            return try text.withUnsafeBytes { try JSONParser.value(of: $0) }
        } catch {
            throw .dataCorrupted(.init(codingPath: [], debugDescription: "\(error)", underlyingError: error))
        }
    }
}

/// Rejects text on which Foundation's decoder traps instead of throwing.
///
/// swift-foundation (6.3 at least) traps if the last byte of the input opens the 513th level: it computes the location
/// of the error beyond the end of the input. Any server could cause this trap. Text that ends with an opening bracket
/// is not JSON at any depth. Delete this when `JSONDecoder` throws for 513 times `[`.
enum JSONGuard {
    static func check(_ text: Data) throws(DecodingError) {
        // Zeros are skipped: in UTF-16 and UTF-32, which Foundation also reads, zeros surround the bracket.
        let last = text.withUnsafeBytes { $0.last { $0 != 0 } }
        guard let last, last == UInt8(ascii: "[") || last == UInt8(ascii: "{") else { return }
        throw .dataCorrupted(.init(codingPath: [], debugDescription: "the input ends with an opening bracket"))
    }
}

/// Coders shared by all commands without their own. They are not changed after they were made.
package enum SharedCoders {
    /// A command that returns this decoder uses the client's decoder.
    package static let jsonDecoder = JSONDecoder()
    /// Sorts names: Foundation's own order depends on the seeds of its hash tables, so that equal values would give
    /// different bytes in every process.
    package static let jsonEncoder = JSONEncoder().withSortedKeys
}
