public import FoundationEssentials
public import HTTPTypes

/// Settings of one request that replace those of its command. A member that is `nil` keeps the value of the command or
/// of the client.
///
/// For a ``CustomRequest`` the overrides ``Members/headers``, ``Members/query``, ``Members/authorization`` and
/// ``Members/body`` apply, and all overrides that are not about building the request. Overrides of what a custom
/// request does not have (base URLs, rules, parameters) fail it with ``ErrandError/invalidArgument``.
@dynamicMemberLookup
public struct RequestOverrides: Sendable {
    /// The members that can be overridden.
    public struct Members: Sendable {
        /// Replaces ``Command/baseURL``.
        public var baseURL: String?
        /// Replaces ``Command/cdnURL``.
        public var cdnURL: String?
        /// Replaces ``Command/usesCDN``.
        public var usesCDN: Bool?
        /// Replaces ``Command/urlRules``, member by member.
        public var urlRules: URLRules?
        /// Added to the command's headers. A field here replaces the command's fields of the same name. Default: none.
        public var headers = HTTPFields()
        /// Appended to the command's query. Default: none.
        public var query: [QueryItem] = []
        /// Replaces ``Command/parameters``. Empty (`[:]`): the request has no parameters.
        public var parameters: Parameters?
        /// Replaces ``Command/parameterEncoding``.
        public var parameterEncoding: ParameterEncoding?
        /// Replaces ``Command/body`` or the custom request's body. ``RequestBody/empty``: the request has no body.
        public var body: RequestBody?
        /// Replaces ``Command/authorization``, and the `Authorization` field of a custom request.
        public var authorization: Authorization?
        /// Replaces ``Command/customRequest``.
        public var customRequest: CustomRequest?
        /// Replaces ``Command/timeouts``, member by member.
        public var timeouts: Timeouts?
        /// Replaces ``Command/limits``, member by member.
        public var limits: Limits?
        /// Replaces ``Command/priority``.
        public var priority: Priority?
        /// Replaces ``Command/connection``, member by member.
        public var connection: ConnectionOptions?
        /// Replaces ``Command/redirects``.
        public var redirects: RedirectPolicy?
        /// Replaces both ``Command/options`` and ``Client/Settings/options``.
        public var options: CommandOptions?

        /// Replaces ``Command/cache``.
        public var cache: CachePolicy?
        /// Replaces ``Command/resilience``.
        public var resilience: RequestResilience?
        /// Replaces ``Command/urlTemplate``.
        public var urlTemplate: String?

        /// Replaces ``Command/acceptedStatusCodes``.
        public var acceptedStatusCodes: StatusCodes?
        /// Replaces ``Command/acceptedContentTypes``.
        public var acceptedContentTypes: ContentTypes?
        /// Replaces ``Command/jsonDecoder``. The decoder must not be changed after it is set here.
        public var jsonDecoder: JSONDecoder?
        /// Replaces ``Command/shape``; not for streams. ``JSONShape/any`` still requires JSON.
        public var shape: JSONShape?
        /// Runs after ``Command/validator``, under the same rules. The validator does not know the type of the
        /// command's value; it can decode the response once more. Not for streams.
        public var validator: (@Sendable (Response) async throws -> Void)?
        /// Interceptors after the command's. Default: none.
        public var interceptors: [any Interceptor] = []

        /// The name of an overridden member that a custom request does not have; `nil`: there is none.
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

    /// Keeps the overrides one word in size, so that a request copies none of the members. Most requests have no
    /// overrides and only pay for the check.
    private final class Box: Sendable {
        let members: Members
        init(_ members: Members) { self.members = members }
    }

    private var box: Box

    /// Makes overrides that change nothing.
    public init() {
        box = Box(Members())
    }

    /// Reads or replaces one of ``Members``.
    public subscript<Value>(dynamicMember member: WritableKeyPath<Members, Value>) -> Value {
        get { box.members[keyPath: member] }
        set {
            var members = box.members
            members[keyPath: member] = newValue
            box = Box(members)
        }
    }

    /// Whether interceptors or a validator are overridden; see ``Command/hasHooks``.
    package var hasHooks: Bool { !box.members.interceptors.isEmpty || box.members.validator != nil }

    /// See ``Members/unfitForCustomRequest``.
    var unfitForCustomRequest: StaticString? { box.members.unfitForCustomRequest }
}
