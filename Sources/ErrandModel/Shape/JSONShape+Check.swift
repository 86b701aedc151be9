public import HTTPTypes

extension JSONShape {
    /// Throws if the value does not have this shape. Of several differences the error names the first: by index in an
    /// array, by the order of the keys in an object.
    public func check(_ value: JSONValue) throws(ShapeMismatch) {
        if let mismatch = mismatch(value) { throw mismatch }
    }

    /// Reads the body as JSON, an empty body as `null`, checks it and returns the value. Throws
    /// ``ErrandError/shapeMismatch`` with the ``ShapeMismatch`` as its `underlyingError` if the value does not have
    /// this shape, and ``ErrandError/responseDecodingFailed`` if the body is not JSON. A response that has no content
    /// (``Response/isWithoutContent(answering:)``) passes without a check, as `null`.
    ///
    /// - Parameters:
    ///   - response: The response to check.
    ///   - method: The method of the request.
    @discardableResult
    public func check(
        _ response: Response, answering method: HTTPRequest.Method = .get
    ) throws(ErrandError) -> JSONValue {
        if response.isWithoutContent(answering: method) { return .null }
        let value = try response.json()
        if let mismatch = mismatch(value) {
            throw .shapeMismatch.with(message: mismatch.description, response: response, underlying: mismatch)
        }
        return value
    }

    private func mismatch(_ value: JSONValue) -> ShapeMismatch? {
        switch (self, value) {
        case (.any, _), (.string, .string), (.number, .integer), (.number, .number), (.integer, .integer),
            (.bool, .bool),
            (.null, .null), (.nullable, .null):
            nil
        case (.integer, .number(let number)) where number.rounded(.towardZero) == number:
            nil
        case (.object(let fields), .object(let members)):
            Self.mismatch(members, fields)
        case (.exact(let fields), .object(let members)):
            Self.mismatch(members, fields) ?? Self.extraKey(members, fields)
        case (.array(let element, let count), .array(let elements)):
            mismatch(elements, of: element, count)
        case (.enumeration(let values), _):
            values.contains(value) ? nil : ShapeMismatch(expected: description, found: ShapeMismatch.literal(value))
        case (.oneOf(let shapes), _):
            mismatch(value, oneOf: shapes)
        case (.nullable(let shape), _):
            shape.mismatch(value).map { $0.depth > 0 ? $0 : ShapeMismatch(expected: description, found: $0.found) }
        default:
            ShapeMismatch(expected: description, found: ShapeMismatch.kind(value))
        }
    }

    /// Checks every field: the order of a dictionary differs from run to run, and the error must not.
    private static func mismatch(_ members: [String: JSONValue], _ fields: [String: Field]) -> ShapeMismatch? {
        var first: (key: String, mismatch: ShapeMismatch)?
        for (key, field) in fields {
            let mismatch: ShapeMismatch? =
                if let value = members[key] {
                    field.shape.mismatch(value)
                } else if field.isRequired {
                    ShapeMismatch(expected: field.shape.description, found: "nothing")
                } else {
                    nil
                }
            guard let mismatch, first.map({ key < $0.key }) ?? true else { continue }
            first = (key, mismatch.below(.key(key)))
        }
        return first?.mismatch
    }

    private static func extraKey(_ members: [String: JSONValue], _ fields: [String: Field]) -> ShapeMismatch? {
        guard let extra = members.filter({ fields[$0.key] == nil }).min(by: { $0.key < $1.key }) else { return nil }
        return ShapeMismatch(expected: "nothing", found: ShapeMismatch.kind(extra.value)).below(.key(extra.key))
    }

    private func mismatch(_ elements: [JSONValue], of element: JSONShape, _ count: ClosedRange<Int>) -> ShapeMismatch? {
        guard count.contains(elements.count) else {
            return ShapeMismatch(expected: description, found: "array of \(elements.count)")
        }
        if element == .any { return nil }
        for (index, value) in elements.enumerated() {
            if let mismatch = element.mismatch(value) { return mismatch.below(.index(index)) }
        }
        return nil
    }

    /// Returns the mismatch of the alternative that matched deepest, which is more useful than a list of all
    /// alternatives.
    private func mismatch(_ value: JSONValue, oneOf shapes: [JSONShape]) -> ShapeMismatch? {
        var deepest: ShapeMismatch?
        for shape in shapes {
            guard let mismatch = shape.mismatch(value) else { return nil }
            if mismatch.depth > (deepest?.depth ?? 0) { deepest = mismatch }
        }
        return deepest ?? ShapeMismatch(expected: description, found: ShapeMismatch.kind(value))
    }
}
