extension JSONValue: Codable {
    /// Reads any JSON value. A number outside the range of `Double` is an error.
    public init(from decoder: any Decoder) throws {
        // The commonest first: each refusal makes an error. A container of another kind is refused the same way.
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
            self = .array(try container.decode([JSONValue].self))
        } else if (try? decoder.container(keyedBy: AnyKey.self)) != nil {
            self = .object(try container.decode([String: JSONValue].self))
        } else {
            self = .number(try container.decode(Double.self))
        }
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

    /// Writes the value. A `Double` that is not finite is an error of the encoder's.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let elements): try container.encode(elements)
        case .object(let members): try container.encode(members)
        }
    }

    private struct AnyKey: CodingKey {
        let stringValue: String
        let intValue: Int? = nil

        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

extension JSONValue: ResponseConvertible {
    /// The body read as JSON; see ``Response/json()``.
    public init(response: Response) throws {
        self = try response.json()
    }
}
