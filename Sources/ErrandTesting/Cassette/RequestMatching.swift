public import HTTPTypes

/// Which parts of a request decide whether a recorded exchange answers it.
///
/// Header fields do not count unless they are named: fields such as `User-Agent`, `Date` and `traceparent` differ from
/// run to run. Secrets are compared in their hidden form, as they are on the cassette. A pure value; any thread.
public struct RequestMatching: Sendable, Hashable {
    /// Parts of a URL.
    public struct URLParts: OptionSet, Sendable, Hashable {
        /// The bits.
        public let rawValue: UInt8
        /// Makes a set from its bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// `http` or `https`.
        public static let scheme = URLParts(rawValue: 1)
        /// The host, in lower case.
        public static let host = URLParts(rawValue: 2)
        /// The port, that of the scheme if the URL has none.
        public static let port = URLParts(rawValue: 4)
        /// The path.
        public static let path = URLParts(rawValue: 8)
        /// The query, compared by ``RequestMatching/query``.
        public static let query = URLParts(rawValue: 16)
        /// The whole URL.
        public static let all: URLParts = [.scheme, .host, .port, .path, .query]
        /// The path and the query, for servers whose address differs from run to run.
        public static let target: URLParts = [.path, .query]
    }

    /// How queries are compared.
    public enum Query: Sendable, Hashable {
        /// Byte by byte.
        case exact
        /// The same items in any order.
        case anyOrder
        /// The items of these names, in any order; others do not matter.
        case only(Set<String>)
        /// All items but those of these names, in any order.
        case ignoring(Set<String>)
    }

    /// How bodies are compared.
    public enum Body: Sendable, Hashable {
        /// Not at all.
        case ignored
        /// Byte by byte.
        case bytes
        /// As JSON values: the order of members and the blanks between them do not matter. Bodies that are not JSON are
        /// compared byte by byte.
        case json
        /// As JSON if the recorded body's media type is JSON, otherwise byte by byte.
        case byType
    }

    /// Whether the method counts. Default: yes.
    public var comparesMethod: Bool
    /// The parts of the URL that count. Default: all.
    public var url: URLParts
    /// How queries are compared. Default: in any order.
    public var query: Query
    /// The header fields that count. Default: none.
    public var fields: Set<HTTPField.Name>
    /// How bodies are compared. Default: by their media type.
    public var body: Body

    /// Makes rules; arguments that are left out have the defaults above.
    public init(
        comparesMethod: Bool = true, url: URLParts = .all, query: Query = .anyOrder,
        fields: Set<HTTPField.Name> = [], body: Body = .byType
    ) {
        self.comparesMethod = comparesMethod
        self.url = url
        self.query = query
        self.fields = fields
        self.body = body
    }
}
