import Errand
import FoundationEssentials
import Testing

@testable import ErrandModel

/// The rules of AFNetworking's request serializers, and what goes beyond them.
@Suite struct ParametersTests {
    private func query(_ parameters: Parameters, _ change: (inout QueryStyle) -> Void = { _ in }) throws -> String {
        var style = QueryStyle.afNetworking
        change(&style)
        return try style.encode(parameters)
    }

    @Test(
        arguments: [
            ([:], ""),
            (["key": "value", "key1": "value&"], "key=value&key1=value%26"),
            (["b": 1, "a": 2], "a=2&b=1"),
            (["a": ["z": 1, "y": ["x": 2]]], "a%5By%5D%5Bx%5D=2&a%5Bz%5D=1"),
            (["a": ["x", 1, ["b": nil]]], "a%5B%5D=x&a%5B%5D=1&a%5B%5D%5Bb%5D"),
            (["a": .set(["c", "b"]), "n": nil], "a=b&a=c&n"),
            (["t": true, "f": false, "d": 1.0, "e": 1.5, "i": -3], "d=1&e=1.5&f=0&i=-3&t=1"),
            (["a": .array([]), "o": [:], "s": .set([]), "e": ""], "e="),
            (["k": " :#[]@!$&'()*+,;=/?"], "k=%20%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D/?"),
            (["k": "%20%21%22%2F"], "k=%2520%2521%2522%252F"),
            (["k": "\"<>\\^`{|}~-._"], "k=%22%3C%3E%5C%5E%60%7B%7C%7D~-._"),
            (["k": "👴🏿é中"], "k=%F0%9F%91%B4%F0%9F%8F%BF%C3%A9%E4%B8%AD"),
            (["ü=&": "\r\n\0"], "%C3%BC%3D%26=%0D%0A%00"),
            (
                ["big": 9_223_372_036_854_775_807, "small": 1e-7, "huge": 1e300],
                "big=9223372036854775807&huge=1e+300&small=1e-07"
            ),
        ] as [(Parameters, String)])
    func asAFNetworking(parameters: Parameters, expected: String) throws {
        // "+" in a number is data like any other.
        #expect(try query(parameters) == expected.replacing("1e+300", with: "1e%2B300"))
    }

    @Test func manyEmojiStayWhole() throws {
        let text = String(repeating: "👨‍👩‍👧‍👦", count: 1000)
        let encoded = try query(["k": .string(text)]).dropFirst(2)
        #expect(encoded.utf8.count == text.utf8.count * 3)
        let bytes = encoded.split(separator: "%").compactMap { UInt8($0, radix: 16) }
        #expect(String(decoding: bytes, as: UTF8.self) == text)
    }

    @Test func otherStyles() throws {
        let nested: Parameters = ["a": ["b": [1, 2], "c": "x y+"], "n": nil, "t": true]
        #expect(try query(nested) { $0.arrays = .repeated } == "a%5Bb%5D=1&a%5Bb%5D=2&a%5Bc%5D=x%20y%2B&n&t=1")
        #expect(try query(nested) { $0.arrays = .indexed }.hasPrefix("a%5Bb%5D%5B0%5D=1&a%5Bb%5D%5B1%5D=2&"))
        #expect(
            try query(nested) {
                $0.nesting = .dots; $0.arrays = .comma
            } == "a.b=1,2&a.c=x%20y%2B&n&t=1")
        #expect(try query(nested) { $0.spaces = .plus }.contains("=x+y%2B&"))
        #expect(try query(nested) { $0.booleans = .literal }.hasSuffix("t=true"))
        #expect(try query(nested) { $0.nulls = .empty }.contains("&n=&"))
        #expect(try query(nested) { $0.nulls = .omitted }.hasSuffix("=x%20y%2B&t=1"))
        #expect(try query(["a": ["1,2", "3"]]) { $0.arrays = .comma } == "a=1%2C2,3")
        #expect(try query(["a": .array([])]) { $0.arrays = .comma } == "a=")
    }

    @Test func orderIsKeptWhereAsked() throws {
        #expect(
            try query(["b": 1, "a": ["d": 2, "c": 3], "b": 4]) { $0.sortsNames = false }
                == "b=1&a%5Bd%5D=2&a%5Bc%5D=3&b=4")
        #expect(try query(["b": 1, "a": 2, "b": 0]) == "a=2&b=1&b=0")
        let pairs = [Parameters.Pair("z", 1), Parameters.Pair("y", 2)]
        #expect(try query(Parameters(pairs)) { $0.sortsNames = false } == "z=1&y=2")
        #expect(Parameters(["b": 1, "a": 2] as [String: ParameterValue]).pairs.map(\.name) == ["a", "b"])
    }

    @Test func whatCannotBeWrittenIsTyped() {
        for value in [Double.nan, .infinity, -.infinity] {
            #expect(throws: ErrandError.requestEncodingFailed) { try query(["a": .double(value)]) }
            #expect(throws: ErrandError.requestEncodingFailed) { try (["a": [.double(value)]] as Parameters).json() }
        }
        for element in [nil, ["b": 1], [1]] as [ParameterValue] {
            #expect(throws: ErrandError.requestEncodingFailed) {
                try query(["a": [element]]) { $0.arrays = .comma }
            }
        }
        #expect(throws: ErrandError.requestEncodingFailed) { try (["a": .set([1])] as Parameters).json() }
        #expect(throws: ErrandError.requestEncodingFailed) { try (["a": 1, "a": 2] as Parameters).json() }
        var deep: ParameterValue = 1
        for level in 0..<1000 { deep = level % 2 == 0 ? [deep] : ["a": deep] }
        #expect(throws: ErrandError.requestEncodingFailed) { try query(["a": deep]) }
        #expect(throws: ErrandError.requestEncodingFailed) { try (["a": deep] as Parameters).json() }
    }

    @Test func jsonIsWrittenInOrder() throws {
        let parameters: Parameters = [
            "z": nil, "b": true, "i": -1, "d": 2.0, "e": 1e-7, "a": [1, "x", [], [:]],
            "o": ["k": "ü\"\\/\n\u{1}\u{1F}\u{9B}"],
        ]
        let text = String(decoding: try parameters.json(), as: UTF8.self)
        // U+009B need not be escaped, and is sent as it is.
        let members = #"{"z":null,"b":true,"i":-1,"d":2,"e":1e-07,"a":[1,"x",[],{}],"o":{"k":"ü\"\\/\n\u0001\u001f"#
        #expect(text == members + "\u{9B}\"}}")
        #expect(String(decoding: try Parameters().json(), as: UTF8.self) == "{}")
    }

    @Test func jsonIsReadBackByFoundation() throws {
        let strings = (0..<0x300).map { ParameterValue.string(String(UnicodeScalar($0).map { Character($0) } ?? "?")) }
        let json = try (["s": .array(strings), "n": [0.1, 1e21, -0.0]] as Parameters).json()
        struct Read: Decodable {
            let s: [String]
            let n: [Double]
        }
        let read = try JSONDecoder().decode(Read.self, from: Data(json))
        #expect(read.s.map { ParameterValue.string($0) } == strings)
        #expect(read.n == [0.1, 1e21, 0])
    }

    @Test func membersAreSetAndRemoved() {
        var parameters: Parameters = ["a": 1, "b": 2, "a": 3]
        #expect(parameters["a"] == 1)
        parameters["a"] = 4
        #expect(parameters == ["a": 4, "b": 2])
        parameters["c"] = .null
        #expect(parameters == ["a": 4, "b": 2, "c": nil])
        parameters["b"] = nil
        #expect(parameters == ["a": 4, "c": nil])
        #expect(parameters["x"] == nil && !parameters.isEmpty)
    }
}
