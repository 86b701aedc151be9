import Errand
import ErrandTesting

@testable import ErrandModel

/// Random shapes, values, and values that fit a shape, seeded.
struct ShapeMaker {
    var generator: SeededGenerator

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: elements.indices, using: &generator)]
    }

    mutating func shape(_ depth: Int) -> JSONShape {
        switch Int.random(in: 0..<(depth > 0 ? 12 : 6), using: &generator) {
        case 0: return .any
        case 1: return .string
        case 2: return .number
        case 3: return .integer
        case 4: return .bool
        case 5: return .null
        case 6: return .object(fields(depth - 1))
        case 7: return .exact(fields(depth - 1))
        case 8:
            let least = Int.random(in: 0...1, using: &generator)
            return .array(of: shape(depth - 1), count: least...Int.random(in: 1...4, using: &generator))
        case 9: return .enumeration([value(1), value(1)])
        case 10: return .oneOf([shape(depth - 1), shape(depth - 1)])
        default: return .nullable(shape(depth - 1))
        }
    }

    private mutating func fields(_ depth: Int) -> [String: JSONShape.Field] {
        var fields: [String: JSONShape.Field] = [:]
        for _ in 0..<Int.random(in: 0...3, using: &generator) {
            let isRequired = Bool.random(using: &generator)
            fields[pick(["a", "b", "c", "d e"])] = JSONShape.Field(shape(depth), isRequired: isRequired)
        }
        return fields
    }

    mutating func value(_ depth: Int) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &generator) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &generator))
        case 2: return pick([0, 1, -1, 7])
        case 3: return pick([1.0, 0.5, 1e30])
        case 4, 5: return pick(["", "a", "b"])
        case 6:
            let count = Int.random(in: 0...3, using: &generator)
            return .array((0..<count).map { _ in value(depth - 1) })
        default:
            var members: [String: JSONValue] = [:]
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                members[pick(["a", "b", "c", "d e", "f"])] = value(depth - 1)
            }
            return .object(members)
        }
    }

    /// One that fits, where it does not come to grief on an enumeration of a hundredth chance.
    mutating func value(of shape: JSONShape) -> JSONValue {
        switch shape {
        case .any: return value(2)
        case .string: return pick(["", "x"])
        case .number: return pick([1, 1.5])
        case .integer: return pick([1, 2.0])
        case .bool: return pick([true, false])
        case .null: return .null
        case .object(let fields): return members(fields, extra: Bool.random(using: &generator))
        case .exact(let fields): return members(fields, extra: Int.random(in: 0..<8, using: &generator) == 0)
        case .array(let element, let count):
            let length = min(4, Int.random(in: count, using: &generator))
            return .array((0..<length).map { _ in value(of: element) })
        case .enumeration(let values): return pick(values)
        case .oneOf(let shapes): return value(of: pick(shapes))
        case .nullable(let shape): return Bool.random(using: &generator) ? .null : value(of: shape)
        }
    }

    private mutating func members(_ fields: [String: JSONShape.Field], extra: Bool) -> JSONValue {
        var members: [String: JSONValue] = extra ? ["f": value(1)] : [:]
        for (key, field) in fields.sorted(by: { $0.key < $1.key }) {
            if field.isRequired ? Int.random(in: 0..<16, using: &generator) > 0 : Bool.random(using: &generator) {
                members[key] = value(of: field.shape)
            }
        }
        return .object(members)
    }
}
