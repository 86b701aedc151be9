import Errand

/// A member of the JSON of a result, with the path that errors name.
struct LoadJSONMember {
    /// `nil`: the member is missing.
    let value: JSONValue?
    let path: String

    func failure(_ problem: String) -> LoadResultError {
        LoadResultError(path: path, problem: value == nil ? "the member is missing" : problem)
    }

    subscript(name: String) -> LoadJSONMember {
        LoadJSONMember(value: value?[name], path: path.isEmpty ? name : path + "." + name)
    }

    /// Whether the member is missing or `null`.
    var isNull: Bool { value?.isNull ?? true }

    func text() throws(LoadResultError) -> String {
        guard let text = value?.string else { throw failure("text is expected") }
        return text
    }

    func flag() throws(LoadResultError) -> Bool {
        guard let flag = value?.bool else { throw failure("true or false is expected") }
        return flag
    }

    func number() throws(LoadResultError) -> Double {
        guard let number = value?.number, number.isFinite else { throw failure("a number is expected") }
        return number
    }

    func integer(_ range: ClosedRange<Int64>) throws(LoadResultError) -> Int64 {
        guard let integer = value?.integer else { throw failure("a whole number is expected") }
        guard range.contains(integer) else {
            throw failure("a number from \(range.lowerBound) to \(range.upperBound) is expected")
        }
        return integer
    }

    /// A number of things: at most 2^53, so that no sum overflows.
    func count() throws(LoadResultError) -> UInt64 { UInt64(try integer(0...1 << 53)) }

    func int() throws(LoadResultError) -> Int { Int(try integer(0...1 << 53)) }

    /// The elements; more than `limit` are an error.
    func elements(atMost limit: Int) throws(LoadResultError) -> [LoadJSONMember] {
        guard let elements = value?.array else { throw failure("a list is expected") }
        guard elements.count <= limit else { throw failure("more than \(limit) elements") }
        return elements.enumerated().map { LoadJSONMember(value: $0.element, path: "\(path)[\($0.offset)]") }
    }

    /// The members of an object, by name.
    func members() throws(LoadResultError) -> [(name: String, member: LoadJSONMember)] {
        guard let members = value?.object else { throw failure("an object is expected") }
        return members.keys.sorted().map { ($0, self[$0]) }
    }

    /// A histogram of the time series; `null`: no values.
    func compactHistogram() throws(LoadResultError) -> CompactHistogram {
        if isNull, value != nil { return CompactHistogram() }
        let text = try text()
        do throws(HistogramEncodingError) {
            return try CompactHistogram(base64: text)
        } catch {
            throw failure(error.description)
        }
    }
}
