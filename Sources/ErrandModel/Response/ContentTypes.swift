import HTTPTypes

/// The content types that a response may have.
///
/// ```swift
/// var acceptedContentTypes: ContentTypes { .json }
/// var acceptedContentTypes: ContentTypes { ["image/*", "application/pdf"] }
/// ```
///
/// Types are compared without case and parameters. A response without a body is accepted, whatever its `Content-Type`
/// (204, 205, HEAD, `Content-Length: 0`). A body without a `Content-Type`, or with a malformed one, is accepted by
/// ``any`` only. AFNetworking calls this `acceptableContentTypes`.
public struct ContentTypes: Sendable, Hashable {
    /// `nil` is any type.
    private let ranges: [Range]?
    private let isInherited: Bool

    private init(ranges: [Range]?, isInherited: Bool = false) {
        self.ranges = ranges
        self.isInherited = isInherited
    }

    /// The types of ``Client/Settings/acceptedContentTypes``: the default of a command. Outside of a command, and in
    /// the settings, the same as ``any``.
    public static var inherited: ContentTypes { ContentTypes(ranges: nil, isInherited: true) }

    /// Any type, and responses without a type.
    public static var any: ContentTypes { ContentTypes(ranges: nil) }

    /// `application/json`, `text/json`, `text/javascript` (AFNetworking's list), and every type that ends in `+json`
    /// (RFC 6839 3.1).
    public static let json: ContentTypes = ["application/json", "text/json", "text/javascript", "+json"]

    /// `application/xml`, `text/xml` (AFNetworking's list), and every type that ends in `+xml` (RFC 7303 4.2).
    public static let xml: ContentTypes = ["application/xml", "text/xml", "+xml"]

    /// `application/x-plist` (AFNetworking's list), `application/x-apple-plist`, and the two types of ``xml`` with
    /// which servers send property lists.
    public static let propertyList: ContentTypes = [
        "application/x-plist", "application/x-apple-plist", "application/xml", "text/xml",
    ]

    /// The named types: `text/html`, `image/*`, `*/*` (any type, but the response must have one), `application/*+json`,
    /// or `+json` for every type with that suffix. Any other text matches nothing.
    public static func of(_ types: [String]) -> ContentTypes {
        ContentTypes(ranges: types.map(Range.init))
    }

    /// The types of both sets; ``inherited`` counts as ``any``.
    public func union(_ other: ContentTypes) -> ContentTypes {
        guard let ranges, let others = other.ranges else { return .any }
        return ContentTypes(ranges: ranges + others.filter { !ranges.contains($0) })
    }

    /// `self`, or `other` where `self` is ``inherited``.
    package func inheriting(_ other: @autoclosure () -> ContentTypes) -> ContentTypes {
        isInherited ? other() : self
    }

    /// Whether every type is accepted.
    package var isAny: Bool { ranges == nil }

    /// Whether the response has no body, or a body of an accepted type.
    public func accepts(_ response: Response) -> Bool {
        ranges == nil || response.body.isEmpty || accepts(contentType: response.header(.contentType))
    }

    /// Whether a body with this `Content-Type` is accepted; `nil` for a response without that field.
    public func accepts(contentType: String?) -> Bool {
        guard let ranges else { return true }
        guard let contentType, let mediaType = MediaType(contentType) else { return false }
        return ranges.contains { $0.matches(mediaType) }
    }

    /// Throws ``ErrandError/contentTypeNotAccepted`` for a response that ``accepts(_:)`` refuses.
    public func check(_ response: Response) throws(ErrandError) {
        guard !accepts(response) else { return }
        let found = response.header(.contentType).map { "'\($0)'" } ?? "missing"
        throw .contentTypeNotAccepted.with(
            message: "the content type is \(found), expected \(self)", response: response)
    }
}

extension ContentTypes: ExpressibleByArrayLiteral {
    /// The same as ``of(_:)``.
    public init(arrayLiteral elements: String...) {
        self = .of(elements)
    }
}

extension ContentTypes: CustomStringConvertible {
    /// `application/json, text/json`, or `any`.
    public var description: String {
        ranges?.map(\.text).joined(separator: ", ") ?? "any"
    }
}

extension ContentTypes {
    /// One of the named types. An empty suffix and `nil` for a wildcard reduce a comparison to three short strings.
    private struct Range: Sendable, Hashable {
        let text: String
        private let type: String?
        private let subtype: String?
        private let suffix: String
        private let isValid: Bool

        init(_ text: String) {
            self.text = text
            let isBareSuffix = text.hasPrefix("+")
            guard let parsed = MediaType(isBareSuffix ? "*/*" + text : text) else {
                (type, subtype, suffix, isValid) = (nil, nil, "", false)
                return
            }
            type = parsed.type == "*" ? nil : parsed.type
            if parsed.subtype.hasPrefix("*+") {
                (subtype, suffix) = (nil, String(parsed.subtype.dropFirst()))
            } else {
                (subtype, suffix) = (parsed.subtype == "*" ? nil : parsed.subtype, "")
            }
            isValid = true
        }

        func matches(_ mediaType: MediaType) -> Bool {
            guard isValid else { return false }
            if let type, type != mediaType.type { return false }
            if let subtype, subtype != mediaType.subtype { return false }
            return suffix.isEmpty || mediaType.subtype.hasSuffix(suffix)
        }
    }
}
