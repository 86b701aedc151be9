/// A part in which a request differs from a recorded one.
public struct RequestDifference: Sendable, Hashable, CustomStringConvertible {
    /// The part.
    public enum Part: Sendable, Hashable {
        /// The method.
        case method
        /// The URL's scheme.
        case scheme
        /// The URL's host.
        case host
        /// The URL's port.
        case port
        /// The URL's path.
        case path
        /// The part of the URL's query that counts.
        case query
        /// A header field, in lower case.
        case field(String)
        /// The body, and where in it: `body at users[0].name`, `body at byte 12`.
        case body(at: String)
        /// A part that a ``Cassette/Comparison`` has named.
        case other(String)
    }

    /// The part.
    public let part: Part
    /// What was recorded; for a body only the part at the place of the difference.
    public let recorded: String
    /// What was sent.
    public let sent: String

    /// Makes a difference, for a ``Cassette/Comparison``.
    ///
    /// - Parameters:
    ///   - part: Where the requests differ: one of the parts, or `.other` with a name for messages.
    ///   - recorded: What was recorded. Empty: nothing.
    ///   - sent: What was sent. Empty: nothing.
    public init(_ part: Part, recorded: String, sent: String) {
        self.part = part
        self.recorded = recorded
        self.sent = sent
    }

    /// How far apart the requests are. Another path weighs more than another body.
    var weight: Int {
        switch part {
        case .path: 16
        case .host: 12
        case .method: 8
        case .scheme, .port: 6
        case .query: 4
        case .field, .body, .other: 2
        }
    }

    /// `path: '/users/1' was recorded, '/users/2' was sent`.
    public var description: String {
        "\(name): \(Self.shown(recorded)) was recorded, \(Self.shown(sent)) was sent"
    }

    private var name: String {
        switch part {
        case .method: "method"
        case .scheme: "scheme"
        case .host: "host"
        case .port: "port"
        case .path: "path"
        case .query: "query"
        case .field(let name): "field \(name)"
        case .body(let place): "body at \(place)"
        case .other(let name): name
        }
    }

    /// The text in quotes, cut after 200 characters.
    private static func shown(_ text: String) -> String {
        guard !text.isEmpty else { return "nothing" }
        return text.count > 200 ? "'\(text.prefix(200))...'" : "'\(text)'"
    }
}
