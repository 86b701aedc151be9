extension JSONValue {
    /// Reads any JSON value with any decoder. A number outside the range of `Double` is an error.
    ///
    /// Responses, lines and values for a ``JSONShape`` are not read by this initialiser but by a parser, which allows
    /// 512 levels. A value that is part of another type may be at most 64 levels deep: `JSONDecoder` makes an error for
    /// each type that a value does not have, and the cost of such an error is quadratic in the depth.
    public init(from decoder: any Decoder) throws {
        // The most common types first. A container of another kind is refused in the same way.
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try Self.string(container) {
            self = .string(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if (try? decoder.unkeyedContainer()) != nil {
            try Self.checkDepth(decoder)
            self = .array(try container.decode([JSONValue].self))
        } else if (try? decoder.container(keyedBy: Name.self)) != nil {
            try Self.checkDepth(decoder)
            self = .object(try container.decode([String: JSONValue].self))
        } else {
            self = .number(try container.decode(Double.self))
        }
    }

    private static var maximumDepthInDecoders: Int { 64 }

    private static func checkDepth(_ decoder: any Decoder) throws {
        let path = decoder.codingPath
        guard path.count >= maximumDepthInDecoders else { return }
        let problem = "The JSONValue within another type is nested more than \(maximumDepthInDecoders) levels deep."
        throw DecodingError.dataCorrupted(.init(codingPath: path, debugDescription: problem))
    }

    /// `nil` if the value is not text. Broken text (not UTF-8, a lone surrogate) is an error, which trying another type
    /// next would hide.
    private static func string(_ container: any SingleValueDecodingContainer) throws -> String? {
        do {
            return try container.decode(String.self)
        } catch DecodingError.typeMismatch {
            return nil
        }
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
