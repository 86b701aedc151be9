extension JSONValue: Codable {
    /// Encodes the value. A `Double` that is not finite is an error of the encoder.
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
}

extension JSONValue: ResponseConvertible {
    /// The body decoded as JSON; see ``Response/json()``.
    public init(response: Response) throws {
        self = try response.json()
    }
}
