extension Parameters {
    /// RFC 8259 text, members in order. Throws ``ErrandError/requestEncodingFailed`` for values that JSON does not
    /// have: numbers that are not finite, sets, a name that occurs twice in an object.
    package func json() throws(ErrandError) -> [UInt8] {
        var writer = JSONWriter()
        try writer.write(self, depth: 0)
        return writer.bytes
    }
}

private struct JSONWriter {
    var bytes: [UInt8] = []

    mutating func write(_ parameters: Parameters, depth: Int) throws(ErrandError) {
        guard depth < QueryStyle.depthLimit else { throw failed("the parameters are nested too deeply") }
        var names: Set<String> = []
        bytes.append(UInt8(ascii: "{"))
        for pair in parameters.pairs {
            guard names.insert(pair.name).inserted else {
                throw failed("the name \(pair.name.debugDescription) occurs twice, which JSON does not allow")
            }
            if names.count > 1 { bytes.append(UInt8(ascii: ",")) }
            write(pair.name)
            bytes.append(UInt8(ascii: ":"))
            try write(pair.value, depth: depth + 1)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private mutating func write(_ value: ParameterValue, depth: Int) throws(ErrandError) {
        switch value {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .int(let value): bytes += String(value).utf8
        case .double(let value): bytes += try ParameterValue.text(value).utf8
        case .string(let text): write(text)
        case .object(let members): try write(members, depth: depth)
        case .set: throw failed("a set cannot be sent as JSON")
        case .array(let elements):
            guard depth < QueryStyle.depthLimit else { throw failed("the parameters are nested too deeply") }
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                try write(element, depth: depth + 1)
            }
            bytes.append(UInt8(ascii: "]"))
        }
    }

    /// Escapes only what JSON demands.
    private mutating func write(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            if let escape = JSONEscape.required(UInt32(byte)) {
                bytes += escape.utf8
            } else {
                bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private func failed(_ message: String) -> ErrandError {
        .requestEncodingFailed.with(message: message)
    }
}
