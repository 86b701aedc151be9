extension JSONValue {
    /// Reads any JSON value by whatever decoder. A number outside the range of `Double` is an error.
    ///
    /// A response, a line, what a ``JSONShape`` checks are not read by this but by a parser, which bears 512 levels. Where
    /// a value is a part of another type it may be 64 levels from the outermost: `JSONDecoder` makes an error for each type
    /// that a value is not, and an error there costs the square of its depth.
    public init(from decoder: any Decoder) throws {
        // The commonest first. A container of another kind is refused the same way.
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
        let problem = "A JSONValue within another type has more than \(maximumDepthInDecoders) levels."
        throw DecodingError.dataCorrupted(.init(codingPath: path, debugDescription: problem))
    }

    /// `nil` for what is no text; text that is broken (not UTF-8, a lone surrogate) is an error, which to ask for another
    /// type next would hide.
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
