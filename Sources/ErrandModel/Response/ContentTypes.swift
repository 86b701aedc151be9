import HTTPTypes

/// The content types that a response may have.
///
/// ```swift
/// var acceptedContentTypes: ContentTypes { .json }
/// var acceptedContentTypes: ContentTypes { ["image/*", "application/pdf"] }
/// ```
///
/// Types are compared without regard to case and parameters. A response without a body passes, whatever it says (204,
/// 205, HEAD, `Content-Length: 0`). One with a body but no `Content-Type`, or one that is malformed, passes ``any``
/// alone. AFNetworking calls this `acceptableContentTypes`.
public struct ContentTypes: Sendable, Hashable {
    /// `nil` is any.
    private let ranges: [Range]?
    private let isInherited: Bool

    private init(ranges: [Range]?, isInherited: Bool = false) {
        self.ranges = ranges
        self.isInherited = isInherited
    }

    /// What ``Client/Settings/acceptedContentTypes`` say: the default of a command. By itself, as in the settings, the same
    /// as ``any``.
    public static var inherited: ContentTypes { ContentTypes(ranges: nil, isInherited: true) }

    /// Any type, and none.
    public static var any: ContentTypes { ContentTypes(ranges: nil) }

    /// `application/json`, `text/json`, `text/javascript` (AFNetworking's list), and whatever ends in `+json`
    /// (RFC 6839 3.1).
    public static let json: ContentTypes = ["application/json", "text/json", "text/javascript", "+json"]

    /// `application/xml`, `text/xml` (AFNetworking's list), and whatever ends in `+xml` (RFC 7303 4.2).
    public static let xml: ContentTypes = ["application/xml", "text/xml", "+xml"]

    /// `application/x-plist` (AFNetworking's list), `application/x-apple-plist`, and the two types of ``xml`` that
    /// property lists are sent by.
    public static let propertyList: ContentTypes = [
        "application/x-plist", "application/x-apple-plist", "application/xml", "text/xml",
    ]

    /// The types named: `text/html`, `image/*`, `*/*` (any type, but there must be one), `application/*+json`, or `+json`
    /// for every type with that suffix. Text that is none of these matches nothing.
    public static func of(_ types: [String]) -> ContentTypes {
        ContentTypes(ranges: types.map(Range.init))
    }

    /// Those of either; ``inherited`` counts as what it is by itself.
    public func union(_ other: ContentTypes) -> ContentTypes {
        guard let ranges, let others = other.ranges else { return .any }
        return ContentTypes(ranges: ranges + others.filter { !ranges.contains($0) })
    }

    /// What `self` says, or `other` where it says nothing.
    package func inheriting(_ other: @autoclosure () -> ContentTypes) -> ContentTypes {
        isInherited ? other() : self
    }

    /// Whether everything passes.
    package var isAny: Bool { ranges == nil }

    /// Whether the response has no body, or one of a type that is taken.
    public func accepts(_ response: Response) -> Bool {
        ranges == nil || response.body.isEmpty || accepts(contentType: response.header(.contentType))
    }

    /// Whether a body with this `Content-Type` is taken; `nil` for a response without that field.
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
    /// One of the types named. The empty suffix and `nil` for "whatever" keep a comparison to three short strings.
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
