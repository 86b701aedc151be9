/// A value that is read from a property list instead of JSON.
///
/// ```swift
/// struct GetManifest: Command {
///     var path = "manifest.plist"
///     typealias Response = PropertyList<Manifest>
/// }
/// ```
public struct PropertyList<Value: Decodable & Sendable>: ResponseConvertible {
    /// The decoded value.
    public var value: Value

    /// Reads the body; see ``Response/decodePropertyList(_:using:)``.
    public init(response: Response) throws {
        value = try response.decodePropertyList(Value.self)
    }
}

extension PropertyList: Equatable where Value: Equatable {}
extension PropertyList: Hashable where Value: Hashable {}
