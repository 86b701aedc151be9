extension QueryStyle {
    /// An unescaped name, flattened, and a value: AFNetworking's query string pair.
    package struct Field: Equatable {
        var name: String
        /// `nil` for null.
        var value: Value?

        enum Value: Equatable {
            case text(String)
            /// Joined by commas that are not escaped.
            case list([String])
        }
    }

    /// `a=1&b%5Bc%5D=2`. Throws ``ErrandError/requestEncodingFailed``.
    package func encode(_ parameters: Parameters) throws(ErrandError) -> String {
        var result = ""
        for field in try fields(parameters) {
            var value: String?
            switch field.value {
            case .text(let text): value = escape(text)
            case .list(let texts): value = texts.map { escape($0) }.joined(separator: ",")
            case nil:
                if nulls == .omitted { continue }
                if nulls == .empty { value = "" }
            }
            if !result.isEmpty { result += "&" }
            result += escape(field.name)
            if let value { result += "=" + value }
        }
        return result
    }

    /// Flattened. Throws ``ErrandError/requestEncodingFailed``.
    package func fields(_ parameters: Parameters) throws(ErrandError) -> [Field] {
        var fields: [Field] = []
        try append(parameters, prefix: nil, depth: 0, to: &fields)
        return fields
    }

    /// The limit of nesting: deeper than real values, and low enough that the recursion does not exhaust the stack.
    static let depthLimit = 128

    private func append(
        _ parameters: Parameters, prefix: String?, depth: Int, to fields: inout [Field]
    ) throws(ErrandError) {
        let pairs = sortsNames ? Self.sorted(parameters.pairs) : parameters.pairs
        for pair in pairs {
            var name = pair.name
            if let prefix { name = nesting == .brackets ? "\(prefix)[\(name)]" : "\(prefix).\(name)" }
            try append(pair.value, name: name, depth: depth, to: &fields)
        }
    }

    /// Equal names keep their order.
    private static func sorted(_ pairs: [Parameters.Pair]) -> [Parameters.Pair] {
        let order = pairs.enumerated().sorted { left, right in
            if left.element.name == right.element.name { return left.offset < right.offset }
            return left.element.name.unicodeScalars.lexicographicallyPrecedes(right.element.name.unicodeScalars)
        }
        return order.map(\.element)
    }

    private func append(
        _ value: ParameterValue, name: String, depth: Int, to fields: inout [Field]
    ) throws(ErrandError) {
        guard depth < Self.depthLimit else {
            throw ErrandError.requestEncodingFailed.with(message: "the parameters are nested too deeply")
        }
        switch value {
        case .object(let members):
            try append(members, prefix: name, depth: depth + 1, to: &fields)
        case .array(let elements):
            try append(elements, name: name, depth: depth + 1, to: &fields)
        case .set(let elements):
            var members: [[Field]] = []
            for element in elements {
                var member: [Field] = []
                try append(element, name: name, depth: depth + 1, to: &member)
                members.append(member)
            }
            for member in members.sorted(by: { Self.sortKey($0) < Self.sortKey($1) }) { fields += member }
        case .null, .bool, .int, .double, .string:
            fields.append(Field(name: name, value: try value.text(booleans: booleans).map { .text($0) }))
        }
    }

    private func append(
        _ elements: [ParameterValue], name: String, depth: Int, to fields: inout [Field]
    ) throws(ErrandError) {
        if arrays == .comma {
            var texts: [String] = []
            for element in elements {
                guard let text = try element.text(booleans: booleans) else {
                    throw ErrandError.requestEncodingFailed.with(
                        message: "'\(name)' has an element that cannot be part of a comma-separated list")
                }
                texts.append(text)
            }
            fields.append(Field(name: name, value: .list(texts)))
            return
        }
        for (index, element) in elements.enumerated() {
            let elementName =
                switch arrays {
                case .brackets: name + "[]"
                case .indexed: "\(name)[\(index)]"
                case .repeated, .comma: name
                }
            try append(element, name: elementName, depth: depth, to: &fields)
        }
    }

    private static func sortKey(_ fields: [Field]) -> String {
        fields.map { field in
            switch field.value {
            case .text(let text): text
            case .list(let texts): texts.joined(separator: ",")
            case nil: ""
            }
        }.joined(separator: "&")
    }

    /// RFC 3986 3.4 allows "/" and "?" in a query; any other reserved character could end a value or a name.
    private func escape(_ text: String) -> String {
        if text.utf8.allSatisfy(Self.isKept) { return text }
        let escaped = PercentEncoding.encode(text, keeping: Self.isKept)
        return spaces == .plus ? escaped.replacing("%20", with: "+") : escaped
    }

    private static func isKept(_ byte: UInt8) -> Bool {
        PercentEncoding.isUnreserved(byte) || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?")
    }
}
