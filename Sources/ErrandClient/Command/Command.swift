public import FoundationEssentials
public import HTTPTypes

/// What to ask a server for: a value that a ``Client`` runs as a ``Request``.
///
/// ```swift
/// struct GetUser: Command {
///     var id: Int
///     var path: String { "users/\(id)" }
///     struct Response: Decodable, Sendable { var name: String }
/// }
/// ```
///
/// Everything but ``path`` has a default. A member whose default is `nil` may be optional or not. A member of a type that
/// is not taken is an error of the compiler, which names it with `given` in front: `givenBody` for ``body``. A command is read once per start, on the thread that starts it, and turned
/// into an immutable ``RequestDescription``. What it says of the response is asked, and ``decode(_:)`` called, later and in one
/// of three places, so that it must not rely on any: the caller's own task (by `async`, where no accessory, interceptor or
/// hook is to be called); a task of the request's own (with interceptors, a validator or preprocessors, or for a body of
/// 64 KiB and more that is decoded or has a shape); else the client's callback queue.
///
/// YTKNetwork calls this `YTKRequest` and mixes it with the running request.
public protocol Command: Sendable {
    /// What ``decode(_:)`` makes of a response. `Decodable` types are read as JSON; `Data`, `[UInt8]`, `String`,
    /// ``NoContent`` and ``Errand/Response`` (the default: no decoding) are taken as they come.
    associatedtype Response: Sendable = ErrandModel.Response

    // MARK: What to send

    /// An `HTTPRequest.Method`, or a `String`; text that is no HTTP token fails the request with
    /// ``ErrandError/invalidMethod`` before it is sent. Default: GET (YTKNetwork `requestMethod`).
    var method: MethodMember { get }

    /// Absolute (`http://...`), or relative to the base URL (as if that ended with `/`) as RFC 3986 5.2 says: `users/1` is
    /// appended to it, `/users/1` replaces the base's path. Spaces and non-ASCII characters are percent-encoded, an existing
    /// `%41` is kept, a `%` that begins no such escape becomes `%25`; the segments `.` and `..` are removed from absolute and relative ones alike (5.2.4), `%2e` is kept.
    /// A relative path whose first segment has a colon is written `./a:b`. An absolute URL, and `//host/x`, leads to any
    /// host; the client's default credentials do not, see ``Client/Settings/authorization`` (YTKNetwork `requestUrl`).
    var path: String { get }

    /// `nil`, the default, or empty: ``Client/Settings/baseURL`` (YTKNetwork `baseUrl`).
    var baseURL: BaseURLMember { get }

    /// `nil`, the default, or empty: ``Client/Settings/cdnURL`` (YTKNetwork `cdnUrl`).
    var cdnURL: CDNURLMember { get }

    /// Whether a relative path is joined to the CDN's URL and not to the base URL. Where there is none the request fails
    /// with ``ErrandError/invalidURL``: it never falls back to the base URL, which may be another host altogether.
    /// Default: no (YTKNetwork `useCDN`).
    var usesCDN: UsesCDNMember { get }

    /// How ``path`` becomes a URL: joining and filters. `nil`, the default: as ``Client/Settings`` say.
    var urlRules: URLRulesMember { get }

    /// Appended to the URL's own query, percent-encoded: ``QueryItem``s, pairs of name and value, or a dictionary, which is
    /// sorted by name. Default: none.
    var query: QueryMember { get }

    /// Values that go where ``parameterEncoding`` says. Default: none (YTKNetwork `requestArgument`).
    var parameters: ParametersMember { get }

    /// Where and how ``parameters`` are sent. Default: in the query for GET, HEAD and DELETE, as a form otherwise
    /// (YTKNetwork `requestSerializerType`).
    var parameterEncoding: ParameterEncodingMember { get }

    /// Fields of this request; a name given here replaces the client's default of that name. `HTTPFields`, pairs of name
    /// and value, or a dictionary, which is sorted by name; text that is no header field fails the request with
    /// ``ErrandError/invalidHeader`` before it is sent. Default: none
    /// (YTKNetwork `requestHeaderFieldValueDictionary`).
    var headers: HeadersMember { get }

    /// A ``RequestBody``; or `Data` or `[UInt8]`, sent as ``RequestBody/data(_:contentType:)``; or a `String`, sent as
    /// ``RequestBody/string(_:contentType:)``. Default: none (YTKNetwork `constructingBodyBlock`, and what `requestArgument` could not say).
    var body: BodyMember { get }

    /// `nil`, the default: ``Client/Settings/authorization``. An `Authorization` field in ``headers`` wins over it
    /// (YTKNetwork `requestAuthorizationHeaderFieldArray`).
    var authorization: AuthorizationMember { get }

    /// Sent in place of what the members above say. Default: none (YTKNetwork `buildCustomUrlRequest`).
    var customRequest: CustomRequestMember { get }

    // MARK: How to send it

    /// `nil`, the default, and each member that is: ``Client/Settings/timeouts`` (YTKNetwork `requestTimeoutInterval`).
    var timeouts: TimeoutsMember { get }

    /// `nil`, the default, and each member that is: ``Client/Settings/limits``.
    var limits: LimitsMember { get }

    /// Among the requests of a client, so that there is no default of the client's. Default: normal (YTKNetwork
    /// `requestPriority`).
    var priority: PriorityMember { get }

    /// How to reach the server. `nil`, the default, and each member that is: ``Client/Settings/connection``.
    var connection: ConnectionMember { get }

    /// `nil`, the default: ``Client/Settings/redirects``.
    var redirects: RedirectsMember { get }

    /// Rarely used switches, beside those of ``Client/Settings/options``. Default: none.
    var options: OptionsMember { get }

    /// Whether and how the response is cached. Asked once for each request, when that is made. `nil`, the default:
    /// ``Client/Settings/cache`` (YTKNetwork `cacheTimeInSeconds`, `cacheVersion`, `cacheSensitiveData`).
    var cache: CacheMember { get }

    /// What a ``Batch``, a ``Chain``, a ``RequestGraph`` or a ``Download`` has in place of a transfer; a command that stands
    /// for one of them passes its coordinator on, and for a download its ``decode(_:)`` too. Asked once for each request,
    /// when that is made. Default: `nil`.
    var coordinator: CoordinatorMember { get }

    // MARK: What comes back

    /// The statuses that count as success; a response with another one fails with ``ErrandError/statusNotAccepted``, which
    /// carries the response. Default: ``StatusCodes/inherited``, which ``Client/Settings/acceptedStatusCodes`` says: 200...299
    /// (YTKNetwork `statusCodeValidator`).
    var acceptedStatusCodes: AcceptedStatusCodesMember { get }

    /// The content types taken; a response with another one fails with ``ErrandError/contentTypeNotAccepted``. Judged
    /// after the status. Default: ``ContentTypes/inherited``, which ``Client/Settings/acceptedContentTypes`` says: any
    /// (AFNetworking `acceptableContentTypes`).
    var acceptedContentTypes: AcceptedContentTypesMember { get }

    /// What the body, read as JSON, must look like; if it does not, the request fails with
    /// ``ErrandError/shapeMismatch``. `nil`, the default: no check (YTKNetwork `jsonValidator`).
    var shape: ShapeMember { get }

    /// Turns an accepted response into the command's value. An error thrown here that is no ``ErrandError`` becomes
    /// the `underlyingError` of ``ErrandError/responseDecodingFailed``.
    /// ``Errand/Response/decode(_:using:)`` of the response given here takes the decoder of ``jsonDecoder`` unless told another.
    func decode(_ response: ErrandModel.Response) throws -> Response

    /// Reads `Decodable` values. Must not be changed while requests run. Default: one that stands for
    /// ``Client/Settings/jsonDecoder``, as an argument of ``Errand/Response/decode(_:using:)`` too.
    var jsonDecoder: JSONDecoderMember { get }

    // MARK: Hooks

    /// Stand between this command and the network, after the client's. Default: none.
    var interceptors: InterceptorsMember { get }

    /// The business rules of a decoded value: throws where a response that came well is none all the same, as an error
    /// code within a 200. In a task of the request's own. An ``ErrandError`` ends the request as it is, any other error
    /// as the `underlyingError` of ``ErrandError/validationFailed``. `nil`, the default: there are none.
    var validator: ValidatorMember { get }

    /// Runs after a success, off the callback queue and before anybody is told (YTKNetwork
    /// `requestCompletePreprocessor`). Of a run one preprocessor is called at most: where ``Timeouts/total`` is up while it
    /// runs, the run ends with that at once, and the other is not called. Default: `nil`.
    var successPreprocessor: SuccessPreprocessorMember { get }

    /// Runs after a failure, off the callback queue and before anybody is told; not after a stop or the client's shutdown,
    /// which wait for nothing (YTKNetwork `requestFailedPreprocessor`). Default: `nil`.
    var failurePreprocessor: FailurePreprocessorMember { get }

    /// Runs on the callback queue after accessories heard `requestWillStop`, before delegate and closures (YTKNetwork
    /// `requestCompleteFilter`). Default: `nil`.
    var successFilter: SuccessFilterMember { get }

    /// The same after a failure; not after a stop (YTKNetwork `requestFailedFilter`). Default: `nil`.
    var failureFilter: FailureFilterMember { get }

    // MARK: The types of members

    // Each is inferred from the member of its name. They are there so that a member of a wrong type is an error of the
    // compiler: where the requirement had a fixed type, the default would take the place of that member in silence.

    /// The type of ``method``, inferred from it; not to be written.
    associatedtype MethodMember = HTTPRequest.Method
    /// The type of ``baseURL``, inferred from it; not to be written.
    associatedtype BaseURLMember = String?
    /// The type of ``cdnURL``, inferred from it; not to be written.
    associatedtype CDNURLMember = String?
    /// The type of ``usesCDN``, inferred from it; not to be written.
    associatedtype UsesCDNMember = Bool
    /// The type of ``urlRules``, inferred from it; not to be written.
    associatedtype URLRulesMember = URLRules?
    /// The type of ``query``, inferred from it; not to be written.
    associatedtype QueryMember = [QueryItem]
    /// The type of ``parameters``, inferred from it; not to be written.
    associatedtype ParametersMember = Parameters?
    /// The type of ``parameterEncoding``, inferred from it; not to be written.
    associatedtype ParameterEncodingMember = ParameterEncoding
    /// The type of ``headers``, inferred from it; not to be written.
    associatedtype HeadersMember = HTTPFields
    /// The type of ``body``, inferred from it; not to be written.
    associatedtype BodyMember = RequestBody
    /// The type of ``authorization``, inferred from it; not to be written.
    associatedtype AuthorizationMember = Authorization?
    /// The type of ``customRequest``, inferred from it; not to be written.
    associatedtype CustomRequestMember = CustomRequest?
    /// The type of ``timeouts``, inferred from it; not to be written.
    associatedtype TimeoutsMember = Timeouts?
    /// The type of ``limits``, inferred from it; not to be written.
    associatedtype LimitsMember = Limits?
    /// The type of ``priority``, inferred from it; not to be written.
    associatedtype PriorityMember = Priority
    /// The type of ``connection``, inferred from it; not to be written.
    associatedtype ConnectionMember = ConnectionOptions?
    /// The type of ``redirects``, inferred from it; not to be written.
    associatedtype RedirectsMember = RedirectPolicy?
    /// The type of ``options``, inferred from it; not to be written.
    associatedtype OptionsMember = CommandOptions
    /// The type of ``cache``, inferred from it; not to be written.
    associatedtype CacheMember = CachePolicy?
    /// The type of ``coordinator``, inferred from it; not to be written.
    associatedtype CoordinatorMember = GroupCoordinator?
    /// The type of ``acceptedStatusCodes``, inferred from it; not to be written.
    associatedtype AcceptedStatusCodesMember = StatusCodes
    /// The type of ``acceptedContentTypes``, inferred from it; not to be written.
    associatedtype AcceptedContentTypesMember = ContentTypes
    /// The type of ``shape``, inferred from it; not to be written.
    associatedtype ShapeMember = JSONShape?
    /// The type of ``jsonDecoder``, inferred from it; not to be written.
    associatedtype JSONDecoderMember = JSONDecoder
    /// The type of ``interceptors``, inferred from it; not to be written.
    associatedtype InterceptorsMember = [any Interceptor]
    /// The type of ``validator``, inferred from it; not to be written.
    associatedtype ValidatorMember = (@Sendable (Response, ErrandModel.Response) async throws -> Void)?
    /// The type of ``successPreprocessor``, inferred from it; not to be written.
    associatedtype SuccessPreprocessorMember = (@Sendable (Response, ErrandModel.Response) async -> Void)?
    /// The type of ``failurePreprocessor``, inferred from it; not to be written.
    associatedtype FailurePreprocessorMember = (@Sendable (ErrandError) async -> Void)?
    /// The type of ``successFilter``, inferred from it; not to be written.
    associatedtype SuccessFilterMember = (@Sendable (Request<Self>) -> Void)?
    /// The type of ``failureFilter``, inferred from it; not to be written.
    associatedtype FailureFilterMember = (@Sendable (Request<Self>) -> Void)?

    // MARK: What the engine reads

    // Not to be implemented, but by a command that wraps another one and passes its members on: each has a default that
    // turns the member of its name into the type that is sent. Generic code reads a command by these.

    /// ``method`` as the engine takes it; not to be implemented. Throws ``ErrandError/invalidMethod`` where text is no HTTP token.
    var givenMethod: HTTPRequest.Method { get throws(ErrandError) }
    /// ``baseURL`` as the engine takes it; not to be implemented.
    var givenBaseURL: String? { get }
    /// ``cdnURL`` as the engine takes it; not to be implemented.
    var givenCDNURL: String? { get }
    /// ``usesCDN`` as the engine takes it; not to be implemented.
    var givenUsesCDN: Bool { get }
    /// ``urlRules`` as the engine takes it; not to be implemented.
    var givenURLRules: URLRules? { get }
    /// ``query`` as the engine takes it; not to be implemented.
    var givenQuery: [QueryItem] { get }
    /// ``parameters`` as the engine takes it; not to be implemented.
    var givenParameters: Parameters? { get }
    /// ``parameterEncoding`` as the engine takes it; not to be implemented.
    var givenParameterEncoding: ParameterEncoding { get }
    /// ``headers`` as the engine takes it; not to be implemented. Throws ``ErrandError/invalidHeader`` where text is no header field.
    var givenHeaders: HTTPFields { get throws(ErrandError) }
    /// ``body`` as the engine takes it; not to be implemented.
    var givenBody: RequestBody { get }
    /// ``authorization`` as the engine takes it; not to be implemented.
    var givenAuthorization: Authorization? { get }
    /// ``customRequest`` as the engine takes it; not to be implemented.
    var givenCustomRequest: CustomRequest? { get }
    /// ``timeouts`` as the engine takes it; not to be implemented.
    var givenTimeouts: Timeouts? { get }
    /// ``limits`` as the engine takes it; not to be implemented.
    var givenLimits: Limits? { get }
    /// ``priority`` as the engine takes it; not to be implemented.
    var givenPriority: Priority { get }
    /// ``connection`` as the engine takes it; not to be implemented.
    var givenConnection: ConnectionOptions? { get }
    /// ``redirects`` as the engine takes it; not to be implemented.
    var givenRedirects: RedirectPolicy? { get }
    /// ``options`` as the engine takes it; not to be implemented.
    var givenOptions: CommandOptions { get }
    /// ``cache`` as the engine takes it; not to be implemented.
    var givenCache: CachePolicy? { get }
    /// ``coordinator`` as the engine takes it; not to be implemented.
    var givenCoordinator: GroupCoordinator? { get }
    /// ``acceptedStatusCodes`` as the engine takes it; not to be implemented.
    var givenAcceptedStatusCodes: StatusCodes { get }
    /// ``acceptedContentTypes`` as the engine takes it; not to be implemented.
    var givenAcceptedContentTypes: ContentTypes { get }
    /// ``shape`` as the engine takes it; not to be implemented.
    var givenShape: JSONShape? { get }
    /// ``jsonDecoder`` as the engine takes it; not to be implemented.
    var givenJSONDecoder: JSONDecoder { get }
    /// ``interceptors`` as the engine takes it; not to be implemented.
    var givenInterceptors: [any Interceptor] { get }
    /// ``validator`` as the engine takes it; not to be implemented.
    var givenValidator: (@Sendable (Response, ErrandModel.Response) async throws -> Void)? { get }
    /// ``successPreprocessor`` as the engine takes it; not to be implemented.
    var givenSuccessPreprocessor: (@Sendable (Response, ErrandModel.Response) async -> Void)? { get }
    /// ``failurePreprocessor`` as the engine takes it; not to be implemented.
    var givenFailurePreprocessor: (@Sendable (ErrandError) async -> Void)? { get }
    /// ``successFilter`` as the engine takes it; not to be implemented.
    var givenSuccessFilter: (@Sendable (Request<Self>) -> Void)? { get }
    /// ``failureFilter`` as the engine takes it; not to be implemented.
    var givenFailureFilter: (@Sendable (Request<Self>) -> Void)? { get }
}

extension Command where MethodMember == HTTPRequest.Method {
    /// GET.
    @inlinable public var method: HTTPRequest.Method { .get }
}

extension Command where BaseURLMember == String? {
    /// The client's.
    @inlinable public var baseURL: String? { nil }
}

extension Command where QueryMember == [QueryItem] {
    /// None.
    @inlinable public var query: [QueryItem] { [] }
}

extension Command where HeadersMember == HTTPFields {
    /// None but the client's.
    @inlinable public var headers: HTTPFields { HTTPFields() }
}

extension Command where BodyMember == RequestBody {
    /// None.
    @inlinable public var body: RequestBody { .empty }
}

extension Command where TimeoutsMember == Timeouts? {
    /// The client's.
    @inlinable public var timeouts: Timeouts? { nil }
}

extension Command where LimitsMember == Limits? {
    /// The client's.
    @inlinable public var limits: Limits? { nil }
}

extension Command where PriorityMember == Priority {
    /// Normal.
    @inlinable public var priority: Priority { .normal }
}

extension Command where ConnectionMember == ConnectionOptions? {
    /// The client's.
    @inlinable public var connection: ConnectionOptions? { nil }
}

extension Command where RedirectsMember == RedirectPolicy? {
    /// The client's.
    @inlinable public var redirects: RedirectPolicy? { nil }
}

extension Command where OptionsMember == CommandOptions {
    /// None but the client's.
    @inlinable public var options: CommandOptions { [] }
}

extension Command where CacheMember == CachePolicy? {
    /// The client's.
    @inlinable public var cache: CachePolicy? { nil }
}

extension Command where CoordinatorMember == GroupCoordinator? {
    /// None.
    @inlinable public var coordinator: GroupCoordinator? { nil }
}
