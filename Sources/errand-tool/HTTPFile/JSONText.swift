import Errand

/// Finds a value in JSON and returns its original text, so that numbers keep their digits and objects keep their order.
struct JSONText {
    private let bytes: [UInt8]
    private var index = 0

    /// Throws `ErrandError.responseDecodingFailed` if the bytes are not JSON.
    init(_ bytes: [UInt8]) throws(ErrandError) {
        _ = try Errand.Response(statusCode: 200, body: bytes).json()
        self.bytes = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
    }

    /// A string's characters, or the text of any other value. `nil`: the path does not exist.
    func text(at path: JSONPath) -> String? {
        var cursor = self
        for step in path.steps {
            let isThere =
                switch step {
                case .name(let name): cursor.enter(member: name)
                case .index(let index): cursor.enter(element: index)
                }
            guard isThere else { return nil }
        }
        cursor.skipBlanks()
        let start = cursor.index
        cursor.skipValue()
        guard start < cursor.index else { return nil }
        let value = bytes[start..<cursor.index]
        return value.first == UInt8(ascii: "\"") ? JSONSkipper.string(value) : String(decoding: value, as: UTF8.self)
    }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard next == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func skipBlanks() {
        index = JSONSkipper.endOfBlanks(bytes, index)
    }

    private mutating func skipValue() {
        index = JSONSkipper.endOfValue(bytes, index)
    }

    /// Moves to the first member with that name; later members with the same name are ignored.
    private mutating func enter(member name: String) -> Bool {
        guard take("{") else { return false }
        repeat {
            skipBlanks()
            guard next == UInt8(ascii: "\"") else { return false }
            let start = index
            index = JSONSkipper.endOfString(bytes, index)
            let isIt = JSONSkipper.string(bytes[start..<index]) == name
            guard take(":") else { return false }
            skipBlanks()
            if isIt { return true }
            skipValue()
        } while take(",")
        return false
    }

    private mutating func enter(element number: Int) -> Bool {
        guard take("[") else { return false }
        var left = number
        repeat {
            skipBlanks()
            guard let byte = next, byte != UInt8(ascii: "]") else { return false }
            if left == 0 { return true }
            left -= 1
            skipValue()
        } while take(",")
        return false
    }
}
