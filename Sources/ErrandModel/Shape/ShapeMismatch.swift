/// Where a JSON value differs from its ``JSONShape``: the `underlyingError` of ``ErrandError/shapeMismatch``.
public struct ShapeMismatch: Error, Sendable, Hashable {
    /// The expected value: `string`, `one of "open", "closed"`.
    public let expected: String
    /// The value that was found. This is the kind of value, never the contents of a text, except where a value of an
    /// enumeration was expected: there it is the value itself (32 characters of it). `nothing` if a key is missing.
    public let found: String
    /// The last step first: steps are appended while the check unwinds, so that a match costs nothing.
    private var steps: [Step] = []

    enum Step: Sendable, Hashable {
        case key(String)
        case index(Int)
    }

    init(expected: String, found: String) {
        self.expected = expected
        self.found = found
    }

    /// The depth below the checked value.
    var depth: Int { steps.count }

    /// The same mismatch, one level further up.
    func below(_ step: Step) -> ShapeMismatch {
        var mismatch = self
        mismatch.steps.append(step)
        return mismatch
    }

    /// The path from the root as a JSONPath (RFC 9535): `$.items[3].name`, `$["odd key"]`.
    public var path: String {
        steps.reversed().reduce(into: "$") { path, step in
            switch step {
            case .index(let index): path += "[\(index)]"
            case .key(let key) where Self.isPlain(key): path += ".\(key)"
            case .key(let key): path += "[\(Self.quote(key))]"
            }
        }
    }
}

extension ShapeMismatch: CustomStringConvertible {
    /// `$.items[3].name: expected string, found null`.
    public var description: String { "\(path): expected \(expected), found \(found)" }
}

extension ShapeMismatch {
    /// The kind of value, as an error names it.
    static func kind(_ value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool: "bool"
        case .integer: "integer"
        case .number: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }

    /// The value itself if it is short.
    static func literal(_ value: JSONValue) -> String {
        switch value {
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .string(let value): value.count > 32 ? quote(value.prefix(32) + "...") : quote(value)
        case .null, .array, .object: kind(value)
        }
    }

    private static func isPlain(_ key: String) -> Bool {
        guard let first = key.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return false }
        return key.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }

    /// Escapes the text for one line of a log: text from a server must not end the line.
    private static func quote(_ text: some StringProtocol) -> String {
        text.unicodeScalars.reduce(into: "\"") { quoted, scalar in
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case _ where scalar.properties.generalCategory == .control:
                quoted += "\\u{\(String(scalar.value, radix: 16))}"
            default: quoted.unicodeScalars.append(scalar)
            }
        } + "\""
    }
}
