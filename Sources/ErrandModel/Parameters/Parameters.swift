/// Names and values of a request, in order. A dictionary literal keeps its order; a dictionary is sorted by name.
///
/// ```swift
/// var parameters: Parameters? { ["user": ["name": "Ada", "tags": ["a", "b"]], "page": 1] }
/// ```
///
/// Queries and forms sort the names unless their ``QueryStyle`` says otherwise; JSON keeps the order. Equal values have
/// the same order.
public struct Parameters: Sendable, Hashable {
    /// A name and its value.
    public struct Pair: Sendable, Hashable {
        /// Not encoded.
        public var name: String
        /// Not encoded.
        public var value: ParameterValue

        /// Makes a pair.
        public init(_ name: String, _ value: ParameterValue) {
            self.name = name
            self.value = value
        }
    }

    /// The pairs in order. A name may occur more than once, except in JSON.
    public var pairs: [Pair]

    /// These pairs, in this order.
    public init(_ pairs: [Pair] = []) {
        self.pairs = pairs
    }

    /// These values, sorted by name, because a dictionary has no order.
    public init(_ values: [String: ParameterValue]) {
        pairs = values.sorted { $0.key < $1.key }.map { Pair($0.key, $0.value) }
    }

    /// Whether there are no pairs.
    public var isEmpty: Bool { pairs.isEmpty }

    /// The first value of that name. Setting a value replaces the first one and removes the others of that name, or
    /// appends it. Setting `nil` removes all values of that name (``ParameterValue/null`` is a value).
    public subscript(name: String) -> ParameterValue? {
        get { pairs.first { $0.name == name }?.value }
        set {
            let index = pairs.firstIndex { $0.name == name } ?? pairs.count
            pairs.removeAll { $0.name == name }
            if let newValue { pairs.insert(Pair(name, newValue), at: min(index, pairs.count)) }
        }
    }
}

extension Parameters: ExpressibleByDictionaryLiteral {
    /// In the literal's order.
    public init(dictionaryLiteral elements: (String, ParameterValue)...) {
        self.init(elements.map { Pair($0.0, $0.1) })
    }
}

/// Where ``Command/parameters`` are sent, for any method (YTKNetwork `requestSerializerType`).
///
/// A command with parameters in the body cannot have its own body: that is ``ErrandError/invalidBody``. A multipart body
/// is the exception: the parameters become parts before its parts, for every encoding that uses the body.
public enum ParameterEncoding: Sendable, Hashable {
    /// In the query for GET, HEAD and DELETE, otherwise as a form; both in ``Client/Settings/queryStyle``.
    case automatic
    /// In the URL's query, after the existing one. `nil`: in ``Client/Settings/queryStyle``.
    case query(QueryStyle?)
    /// As `application/x-www-form-urlencoded`. Body and type are also sent if there are no values. `nil`: in
    /// ``Client/Settings/queryStyle``.
    case form(QueryStyle?)
    /// As a JSON object, in the order of the values.
    case json

    /// ``query(_:)`` in the client's style.
    public static let query = ParameterEncoding.query(nil)
    /// ``form(_:)`` in the client's style.
    public static let form = ParameterEncoding.form(nil)
}
