import Errand
import ErrandTesting
import FoundationEssentials
import HTTPTypes
import Testing

@testable import ErrandModel

@Suite struct JSONShapeTests {
    private static let issue: JSONShape = [
        "id": .integer, "title": .string, "weight": .optional(.number), "state": .enumeration(["open", "closed"]),
        "tags": .array(of: .string), "owner": .nullable(["id": .integer, "name": .optional(.nullable(.string))]),
        "size": .optional(.exact(["w": .number, "h": .number])), "done": .bool, "extra": .optional(.any),
    ]

    private static let good: JSONValue = [
        "id": 1, "title": "t", "state": "open", "tags": ["a"], "owner": ["id": 2], "done": false, "surplus": 1,
    ]

    private func good(_ key: String, _ value: JSONValue?) -> JSONValue {
        var members = Self.good.object ?? [:]
        members[key] = value
        return .object(members)
    }

    private func failure(_ shape: JSONShape, _ value: JSONValue) -> String? {
        do throws(ShapeMismatch) {
            try shape.check(value)
            return nil
        } catch {
            return error.description
        }
    }

    @Test func aValueOfTheShapePasses() {
        #expect(failure(Self.issue, Self.good) == nil)
        #expect(failure(Self.issue, good("owner", nil)) == "$.owner: expected object or null, found nothing")
        #expect(failure(Self.issue, good("owner", .null)) == nil)
        #expect(failure(Self.issue, good("weight", 1.5)) == nil)
        #expect(failure(Self.issue, good("tags", [])) == nil)
        #expect(failure(Self.issue, good("size", ["w": 1, "h": 2.5])) == nil)
        #expect(failure(Self.issue, good("extra", .null)) == nil)
    }

    @Test(
        arguments: [
            ("id", "1", "$.id: expected integer, found string"), ("id", 1.5, "$.id: expected integer, found number"),
            ("id", true, "$.id: expected integer, found bool"), ("id", .null, "$.id: expected integer, found null"),
            ("weight", true, "$.weight: expected number, found bool"),
            ("weight", .null, "$.weight: expected number, found null"),
            ("state", "opne", #"$.state: expected one of "open", "closed", found "opne""#),
            ("state", 7, #"$.state: expected one of "open", "closed", found 7"#),
            ("tags", ["a", "b", 3], "$.tags[2]: expected string, found integer"),
            ("tags", [.null], "$.tags[0]: expected string, found null"),
            ("tags", [:], "$.tags: expected array, found object"),
            ("owner", 1, "$.owner: expected object or null, found integer"),
            ("owner", ["id": "x"], "$.owner.id: expected integer, found string"),
            ("owner", ["id": 1, "name": 2], "$.owner.name: expected string or null, found integer"),
            ("size", ["w": 1], "$.size.h: expected number, found nothing"),
            ("size", ["w": 1, "h": 1, "z y": 1, "a b": .null], #"$.size["a b"]: expected nothing, found null"#),
            ("done", 0, "$.done: expected bool, found integer"),
        ] as [(String, JSONValue, String)])
    func theFirstDifferenceIsTold(key: String, value: JSONValue, expected: String) {
        #expect(failure(Self.issue, good(key, value)) == expected)
    }

    @Test func shapesReadLikeWhatTheyMean() {
        #expect(failure([.string], ["a", 1]) == "$[1]: expected string, found integer")
        #expect(failure([], [1, "a", .null]) == nil)
        #expect(failure([.string, .integer], ["a", 1]) == nil)
        #expect(failure([.string, .integer], ["a", true]) == "$[1]: expected string or integer, found bool")
        #expect(failure(["a": ["b": [.bool]]], ["a": ["b": [true, .null]]]) == "$.a.b[1]: expected bool, found null")
        #expect(failure(["a": []], ["a": 1]) == "$.a: expected array, found integer")
        #expect(
            failure(["a": [.null, .bool]], ["a": [.null, true, 1]]) == "$.a[2]: expected null or bool, found integer")
        #expect(failure(.string, "fragment") == nil)
        #expect(failure(.object([:]), ["x": 1]) == nil)
        #expect(failure(.exact([:]), ["x": 1]) == "$.x: expected nothing, found integer")
    }

    @Test func countsAreChecked() {
        #expect(failure(.array(of: .any, count: 1...2), []) == "$: expected array of 1 to 2, found array of 0")
        #expect(failure(.array(of: .any, count: 1...2), [1, 2]) == nil)
        #expect(failure(.array(of: .any, count: 3...3), [1]) == "$: expected array of 3, found array of 1")
        #expect(failure(.array(of: .string, count: 1...), []) == "$: expected array of at least 1, found array of 0")
        #expect(failure(["a": .array(of: .string, count: 1...)], ["a": ["x"]]) == nil)
    }

    @Test func alternativesTellTheOneThatCameFurthest() {
        let shape = JSONShape.oneOf([
            .string, ["kind": .enumeration(["a"]), "x": .integer], ["kind": .enumeration(["b"]), "y": ["z": .integer]],
        ])
        #expect(failure(shape, ["kind": "b", "y": ["z": 1]]) == nil)
        #expect(failure(shape, "text") == nil)
        #expect(failure(shape, ["kind": "b", "y": ["z": "1"]]) == "$.y.z: expected integer, found string")
        #expect(failure(shape, 1) == "$: expected string or object or object, found integer")
        #expect(failure(.oneOf([]), 1) == "$: expected no value, found integer")
        #expect(failure(.enumeration([]), 1) == "$: expected no value, found 1")
    }

    @Test func wholeNumbersAreIntegers() {
        #expect(failure(.integer, 1.0) == nil && failure(.integer, .number(1e300)) == nil)
        #expect(failure(.integer, 1.5) != nil && failure(.integer, .number(.nan)) != nil)
        #expect(
            failure(.enumeration([1, .null, [1]]), 1.0) == nil && failure(.enumeration([1, .null, [1]]), .null) == nil)
        #expect(failure(.enumeration([[1, "a"]]), [1, "a"]) == nil)
    }

    /// What a server sent must not write a line into a log, or a page.
    @Test func whatIsQuotedStaysOnItsLine() {
        let key = "a\n\"b\u{7f}\\"
        #expect(failure(.exact([:]), [key: 1]) == #"$["a\u{a}\"b\u{7f}\\"]: expected nothing, found integer"#)
        let long = failure(.enumeration(["x"]), .string(String(repeating: "y", count: 1000)))
        #expect(long == "$: expected one of \"x\", found \"\(String(repeating: "y", count: 32))...\"")
        #expect(failure(.exact([:]), ["1a": 1]) == #"$["1a"]: expected nothing, found integer"#)
        #expect(failure(.exact([:]), ["": 1]) == #"$[""]: expected nothing, found integer"#)
    }

    @Test func responsesAreChecked() throws {
        let response = Response(statusCode: 200, body: Array(#"{"items": [{"name": 1}]}"#.utf8))
        let shape: JSONShape = ["items": [["name": .string]]]
        let error = #expect(throws: ErrandError.self) { try shape.check(response) }
        #expect(error == .shapeMismatch && error?.statusCode == 200)
        #expect(error?.message == "$.items[0].name: expected string, found integer")
        #expect((error?.underlyingError as? ShapeMismatch)?.path == "$.items[0].name")
        #expect(throws: ErrandError.responseDecodingFailed) {
            try shape.check(Response(statusCode: 200, body: Array("<html>".utf8)))
        }
        for status in [204, 205, 304] { #expect(try shape.check(Response(statusCode: status)) == .null) }
        #expect(try shape.check(Response(statusCode: 200), answering: .head) == .null)
        #expect(throws: ErrandError.shapeMismatch) { try shape.check(Response(statusCode: 200)) }
        #expect(throws: ErrandError.shapeMismatch) { try shape.check(Response(statusCode: 204, body: [0x31])) }
        #expect(try JSONShape.oneOf([shape, .null]).check(Response(statusCode: 204)) == .null)
        #expect(try (["items": .any] as JSONShape).check(response)["items"]?[0]?["name"] == 1)
    }

    /// The checker against one that is written another way, on shapes and values that nearly fit.
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func agreesWithANaiveChecker(seed: UInt64) {
        var random = ShapeMaker(generator: SeededGenerator(seed: seed))
        var matches = 0
        for _ in 0..<5_000 {
            let shape = random.shape(3)
            let value = Bool.random(using: &random.generator) ? random.value(of: shape) : random.value(3)
            let expected = naive(shape, value)
            if expected { matches += 1 }
            let told = failure(shape, value)
            #expect((told == nil) == expected, "\(shape) \(value) \(told ?? "-")")
            #expect(failure(shape, value) == told)
        }
        #expect(matches > 500 && matches < 4_500)
    }

    private func naive(_ shape: JSONShape, _ value: JSONValue) -> Bool {
        func fits(_ fields: [String: JSONShape.Field]) -> Bool {
            guard let members = value.object else { return false }
            return fields.filter { $0.value.isRequired }.keys.allSatisfy(Set(members.keys).contains)
                && members.allSatisfy { key, value in fields[key].map { naive($0.shape, value) } ?? true }
        }
        switch shape {
        case .any: return true
        case .string: return value.string != nil
        case .number: return value.number != nil
        case .integer: return value.number.map { $0 == $0.rounded() } ?? false
        case .bool: return value.bool != nil
        case .null: return value.isNull
        case .object(let fields): return fits(fields)
        case .exact(let fields): return fits(fields) && Set(value.object?.keys ?? [:].keys).isSubset(of: fields.keys)
        case .array(let element, let count):
            guard let elements = value.array else { return false }
            return count ~= elements.count && !elements.contains { !naive(element, $0) }
        case .enumeration(let values): return values.contains { $0 == value }
        case .oneOf(let shapes): return !shapes.filter { naive($0, value) }.isEmpty
        case .nullable(let shape): return value.isNull || naive(shape, value)
        }
    }
}
