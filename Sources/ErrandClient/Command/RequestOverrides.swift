public import FoundationEssentials
public import HTTPTypes

/// What one request does otherwise than its command says. What is left `nil` is as the command, or the client, says.
///
/// A ``CustomRequest`` takes ``Members/headers``, ``Members/query``, ``Members/authorization`` and ``Members/body``, and
/// all that is not about building; an override of what it does not have (base URLs, rules, parameters) fails it with
/// ``ErrandError/invalidArgument``.
@dynamicMemberLookup
public struct RequestOverrides: Sendable {
    /// What may be said otherwise.
    public struct Members: Sendable {
        /// In place of ``Command/baseURL``.
        public var baseURL: String?
        /// In place of ``Command/cdnURL``.
        public var cdnURL: String?
        /// In place of ``Command/usesCDN``.
        public var usesCDN: Bool?
        /// In place of ``Command/urlRules``, member by member.
        public var urlRules: URLRules?
        /// Added to the command's headers; a name given here replaces the command's fields of that name. Default: none.
        public var headers = HTTPFields()
        /// Appended to the command's query. Default: none.
        public var query: [QueryItem] = []
        /// In place of ``Command/parameters``; empty (`[:]`): the request has none.
        public var parameters: Parameters?
        /// In place of ``Command/parameterEncoding``.
        public var parameterEncoding: ParameterEncoding?
        /// In place of ``Command/body``, or the custom request's; ``RequestBody/empty``: it has none.
        public var body: RequestBody?
        /// In place of ``Command/authorization``. A custom request's own `Authorization` field gives way to it.
        public var authorization: Authorization?
        /// In place of ``Command/customRequest``.
        public var customRequest: CustomRequest?
        /// In place of ``Command/timeouts``, member by member.
        public var timeouts: Timeouts?
        /// In place of ``Command/limits``, member by member.
        public var limits: Limits?
        /// In place of ``Command/priority``.
        public var priority: Priority?
        /// In place of ``Command/connection``, member by member.
        public var connection: ConnectionOptions?
        /// In place of ``Command/redirects``.
        public var redirects: RedirectPolicy?
        /// In place of ``Command/options`` and ``Client/Settings/options``.
        public var options: CommandOptions?

        /// In place of ``Command/cache``.
        public var cache: CachePolicy?

        /// In place of ``Command/acceptedStatusCodes``.
        public var acceptedStatusCodes: StatusCodes?
        /// In place of ``Command/acceptedContentTypes``.
        public var acceptedContentTypes: ContentTypes?
        /// In place of ``Command/jsonDecoder``. Must not be changed once it is here.
        public var jsonDecoder: JSONDecoder?
        /// In place of ``Command/shape``; not for streams. ``JSONShape/any`` still asks for JSON.
        public var shape: JSONShape?
        /// After ``Command/validator``, and as it; it does not know the type of the command's value, which the response can be
        /// read as once more. Not for streams.
        public var validator: (@Sendable (Response) async throws -> Void)?
        /// After the command's. Default: none.
        public var interceptors: [any Interceptor] = []

        /// What is overridden that a custom request does not have; `nil`: nothing.
        var unfitForCustomRequest: StaticString? {
            if baseURL != nil { return "baseURL" }
            if cdnURL != nil { return "cdnURL" }
            if usesCDN != nil { return "usesCDN" }
            if urlRules != nil { return "urlRules" }
            if parameters != nil { return "parameters" }
            if parameterEncoding != nil { return "parameterEncoding" }
            return nil
        }
    }

    /// One word, and none of it copied with a request: most requests have no overrides, and pay for looking.
    private final class Box: Sendable {
        let members: Members
        init(_ members: Members) { self.members = members }
    }

    private var box: Box

    /// Overrides nothing.
    public init() {
        box = Box(Members())
    }

    /// The members.
    public subscript<Value>(dynamicMember member: WritableKeyPath<Members, Value>) -> Value {
        get { box.members[keyPath: member] }
        set {
            var members = box.members
            members[keyPath: member] = newValue
            box = Box(members)
        }
    }

    /// As ``Command/hasHooks``.
    package var hasHooks: Bool { !box.members.interceptors.isEmpty || box.members.validator != nil }

    /// See ``Members``.
    var unfitForCustomRequest: StaticString? { box.members.unfitForCustomRequest }
}
