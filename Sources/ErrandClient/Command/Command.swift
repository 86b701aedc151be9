public import FoundationEssentials
public import HTTPTypes

/// Describes what to ask a server for: a value that a ``Client`` runs as a ``Request``.
///
/// ```swift
/// struct GetUser: Command {
///     var id: Int
///     var path: String { "users/\(id)" }
///     struct Response: Decodable, Sendable { var name: String }
/// }
/// ```
///
/// Every member except ``path`` has a default. A member whose default is `nil` may have an optional or a non-optional
/// type. A member of an unsupported type is a compiler error, which names the requirement with the prefix `given`:
/// `givenBody` for ``body``.
///
/// The client reads a command once per start, on the thread that starts the request, and turns it into an immutable
/// ``RequestDescription``. Later it reads the members about the response and calls ``decode(_:)``. That happens in one
/// of three places, and a command must not rely on any of them:
///
/// - The caller's own task: `async` calls for which no accessory, interceptor or hook has to be called.
/// - A task of the request: requests with interceptors, a validator or preprocessors, and bodies of 64 KiB and more
///   that are decoded or have a shape.
/// - The client's callback queue: all other requests.
///
/// YTKNetwork calls this `YTKRequest` and does not separate it from the running request.
public protocol Command: Sendable {
    /// The value that ``decode(_:)`` makes of a response. `Decodable` types are read as JSON. `Data`, `[UInt8]`,
    /// `String`, ``NoContent`` and ``Errand/Response`` (the default: no decoding) are read without JSON.
    associatedtype Response: Sendable = ErrandModel.Response

    // MARK: What to send

    /// The HTTP method: an `HTTPRequest.Method` or a `String`. A string that is no HTTP token fails the request with
    /// ``ErrandError/invalidMethod`` before it is sent. Default: GET (YTKNetwork `requestMethod`).
    var method: MethodMember { get }

    /// The URL of the request: absolute (`http://...`) or relative to the base URL.
    ///
    /// A relative path is resolved by RFC 3986 5.2 as if the base URL ended with `/`: `users/1` is appended to the base
    /// URL, `/users/1` replaces the path of the base URL. A relative path whose first segment has a colon is written
    /// `./a:b`.
    ///
    /// Spaces and non-ASCII characters are percent-encoded. An existing escape such as `%41` is kept; a `%` that begins
    /// no escape becomes `%25`. The segments `.` and `..` are removed from absolute and relative paths alike (5.2.4);
    /// `%2e` is kept.
    ///
    /// An absolute URL or `//host/x` can lead to any host. The client's default credentials are not sent to other
    /// hosts; see ``Client/Settings/authorization`` (YTKNetwork `requestUrl`).
    var path: String { get }

    /// The base URL for a relative ``path``. `nil` (the default): ``Client/Settings/baseURL``. An empty text is
    /// ``ErrandError/invalidURL`` (YTKNetwork `baseUrl`).
    var baseURL: BaseURLMember { get }

    /// The CDN's base URL, see ``usesCDN``. `nil` (the default): ``Client/Settings/cdnURL``. An empty text is
    /// ``ErrandError/invalidURL`` (YTKNetwork `cdnUrl`).
    var cdnURL: CDNURLMember { get }

    /// Whether a relative path is joined to the CDN's URL instead of the base URL. Without a CDN URL the request fails
    /// with ``ErrandError/invalidURL``. It never falls back to the base URL, which may be a different host. Default: no
    /// (YTKNetwork `useCDN`).
    var usesCDN: UsesCDNMember { get }

    /// How ``path`` becomes a URL: joining and filters. `nil` (the default): the rules of ``Client/Settings``.
    var urlRules: URLRulesMember { get }

    /// Query items that are percent-encoded and appended to the URL's own query: ``QueryItem``s, pairs of name and
    /// value, or a dictionary, which is sorted by name. Default: none.
    var query: QueryMember { get }

    /// Values that are sent where ``parameterEncoding`` says. Default: none (YTKNetwork `requestArgument`).
    var parameters: ParametersMember { get }

    /// Where and how ``parameters`` are sent. Default: in the query for GET, HEAD and DELETE, as a form otherwise
    /// (YTKNetwork `requestSerializerType`).
    var parameterEncoding: ParameterEncodingMember { get }

    /// Header fields of this request. A field here replaces the client's default field of the same name. The type is
    /// `HTTPFields`, pairs of name and value, or a dictionary, which is sorted by name. Text that is no header field
    /// fails the request with ``ErrandError/invalidHeader`` before it is sent. Default: none (YTKNetwork
    /// `requestHeaderFieldValueDictionary`).
    var headers: HeadersMember { get }

    /// The request body: a ``RequestBody``; `Data` or `[UInt8]`, sent as ``RequestBody/data(_:contentType:)``; or a
    /// `String`, sent as ``RequestBody/string(_:contentType:)``. Default: none (YTKNetwork `constructingBodyBlock`, and
    /// bodies that `requestArgument` cannot express).
    var body: BodyMember { get }

    /// The credentials of this request. `nil` (the default): ``Client/Settings/authorization``. An `Authorization`
    /// field in ``headers`` takes precedence (YTKNetwork `requestAuthorizationHeaderFieldArray`).
    var authorization: AuthorizationMember { get }

    /// A complete request that is sent instead of one built from the members above. Default: none (YTKNetwork
    /// `buildCustomUrlRequest`).
    var customRequest: CustomRequestMember { get }

    // MARK: How to send it

    /// The time limits of this request. `nil` (the default): ``Client/Settings/timeouts``. A member that is `nil` takes
    /// its value from there too (YTKNetwork `requestTimeoutInterval`).
    var timeouts: TimeoutsMember { get }

    /// The limits of this request. `nil` (the default): ``Client/Settings/limits``. A member that is `nil` takes its
    /// value from there too.
    var limits: LimitsMember { get }

    /// The priority among the requests of the same client; for that reason the client's settings have no default
    /// priority. Default: normal (YTKNetwork `requestPriority`).
    var priority: PriorityMember { get }

    /// How to reach the server. `nil` (the default): ``Client/Settings/connection``. A member that is `nil` takes its
    /// value from there too.
    var connection: ConnectionMember { get }

    /// How redirects are followed. `nil` (the default): ``Client/Settings/redirects``.
    var redirects: RedirectsMember { get }

    /// Rarely used switches, in addition to those of ``Client/Settings/options``. Default: none.
    var options: OptionsMember { get }

    /// Whether and how the response is cached. Read once for each request, when the request is made. `nil` (the
    /// default): ``Client/Settings/cache`` (YTKNetwork `cacheTimeInSeconds`, `cacheVersion`, `cacheSensitiveData`).
    var cache: CacheMember { get }

    /// How this request differs from the client in retries and their budget, hedges, breaker, limits, the deadline
    /// header, endpoints, the address guard, HSTS and alternative services. For each of them the request uses the
    /// client's part, another one, or none. It also sets the name that they are kept under. Read once for each run. `nil`
    /// (the default): no difference.
    var resilience: ResilienceMember { get }

    /// The whole path of the request's URL with names instead of its variable parts, for metrics and spans (OpenTelemetry
    /// `url.template`): `/v1/users/{id}` for the path `users/1` and the base URL `https://api.test/v1/`. Use only a few
    /// texts that are known in advance, because each text makes another set of labels. Read once for each run, and only
    /// by clients whose attempts are observed. `nil` (the default): none.
    var urlTemplate: URLTemplateMember { get }

    /// What runs instead of a transfer. A command that wraps a ``Batch``, a ``Chain``, a ``RequestGraph`` or a
    /// ``Download`` returns the coordinator of the wrapped command; a command that wraps a download forwards
    /// ``decode(_:)`` to it too. Read once for each request, when the request is made. Default: `nil`.
    var coordinator: CoordinatorMember { get }

    // MARK: What comes back

    /// The statuses that count as success. A response with another status fails with ``ErrandError/statusNotAccepted``,
    /// which carries the response. Default: ``StatusCodes/inherited``, the value of
    /// ``Client/Settings/acceptedStatusCodes``: 200...299 (YTKNetwork `statusCodeValidator`).
    var acceptedStatusCodes: AcceptedStatusCodesMember { get }

    /// The content types that are accepted, checked after the status. A response with another type fails with
    /// ``ErrandError/contentTypeNotAccepted``. Default: ``ContentTypes/inherited``, the value of
    /// ``Client/Settings/acceptedContentTypes``: any (AFNetworking `acceptableContentTypes`).
    var acceptedContentTypes: AcceptedContentTypesMember { get }

    /// The shape that the body, read as JSON, must have. If the body does not match, the request fails with
    /// ``ErrandError/shapeMismatch``. `nil` (the default): no check (YTKNetwork `jsonValidator`).
    var shape: ShapeMember { get }

    /// Turns an accepted response into the command's value. The signature must be exactly this one: a method with
    /// another result is not called if `Response` is `Decodable` or ``ResponseConvertible``. An error thrown here that is no ``ErrandError`` becomes the
    /// `underlyingError` of ``ErrandError/responseDecodingFailed``. ``Errand/Response/decode(_:using:)`` of this
    /// response uses the decoder of ``jsonDecoder`` unless it is given another one.
    func decode(_ response: ErrandModel.Response) throws -> Response

    /// The decoder for `Decodable` values. It must not be changed while requests run. Default: a placeholder for
    /// ``Client/Settings/jsonDecoder``, also when it is passed to ``Errand/Response/decode(_:using:)``.
    var jsonDecoder: JSONDecoderMember { get }

    // MARK: Hooks

    /// Interceptors between this command and the network. They come after the client's interceptors. Default: none.
    var interceptors: InterceptorsMember { get }

    /// Checks the business rules of a decoded value, for example an error code within a 200 response. The validator
    /// throws to reject the response and runs in a task of the request. An ``ErrandError`` ends the request unchanged;
    /// any other error becomes the `underlyingError` of ``ErrandError/validationFailed``. `nil` (the default): no
    /// check.
    var validator: ValidatorMember { get }

    /// Runs after a success, off the callback queue and before any callback (YTKNetwork `requestCompletePreprocessor`).
    /// At most one preprocessor is called per run: if ``Timeouts/total`` expires while this one runs, the run ends with
    /// that error at once and ``failurePreprocessor`` is not called. Default: `nil`.
    var successPreprocessor: SuccessPreprocessorMember { get }

    /// Runs after a failure, off the callback queue and before any callback. It does not run after a stop or the
    /// client's shutdown, because neither waits for it (YTKNetwork `requestFailedPreprocessor`). Default: `nil`.
    var failurePreprocessor: FailurePreprocessorMember { get }

    /// Runs after a success on the callback queue: after the accessories' `requestWillStop`, before delegate and
    /// closures (YTKNetwork `requestCompleteFilter`). Default: `nil`.
    var successFilter: SuccessFilterMember { get }

    /// Runs after a failure at the same point as ``successFilter``; not after a stop (YTKNetwork
    /// `requestFailedFilter`). Default: `nil`.
    var failureFilter: FailureFilterMember { get }

    // MARK: The types of members

    // The compiler infers each of these types from the member of that name. They make a member of a wrong type a
    // compiler error: if the requirement had a fixed type, the default would silently replace such a member.

    /// The type of ``method``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype MethodMember = HTTPRequest.Method
    /// The type of ``baseURL``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype BaseURLMember = String?
    /// The type of ``cdnURL``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype CDNURLMember = String?
    /// The type of ``usesCDN``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype UsesCDNMember = Bool
    /// The type of ``urlRules``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype URLRulesMember = URLRules?
    /// The type of ``query``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype QueryMember = [QueryItem]
    /// The type of ``parameters``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype ParametersMember = Parameters?
    /// The type of ``parameterEncoding``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype ParameterEncodingMember = ParameterEncoding
    /// The type of ``headers``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype HeadersMember = HTTPFields
    /// The type of ``body``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype BodyMember = RequestBody
    /// The type of ``authorization``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype AuthorizationMember = Authorization?
    /// The type of ``customRequest``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype CustomRequestMember = CustomRequest?
    /// The type of ``timeouts``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype TimeoutsMember = Timeouts?
    /// The type of ``limits``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype LimitsMember = Limits?
    /// The type of ``priority``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype PriorityMember = Priority
    /// The type of ``connection``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype ConnectionMember = ConnectionOptions?
    /// The type of ``redirects``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype RedirectsMember = RedirectPolicy?
    /// The type of ``options``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype OptionsMember = CommandOptions
    /// The type of ``cache``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype CacheMember = CachePolicy?
    /// The type of ``resilience``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype ResilienceMember = RequestResilience?
    /// The type of ``urlTemplate``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype URLTemplateMember = String?
    /// The type of ``coordinator``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype CoordinatorMember = GroupCoordinator?
    /// The type of ``acceptedStatusCodes``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype AcceptedStatusCodesMember = StatusCodes
    /// The type of ``acceptedContentTypes``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype AcceptedContentTypesMember = ContentTypes
    /// The type of ``shape``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype ShapeMember = JSONShape?
    /// The type of ``jsonDecoder``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype JSONDecoderMember = JSONDecoder
    /// The type of ``interceptors``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype InterceptorsMember = [any Interceptor]
    /// The type of ``validator``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype ValidatorMember = (@Sendable (Response, ErrandModel.Response) async throws -> Void)?
    /// The type of ``successPreprocessor``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype SuccessPreprocessorMember = (@Sendable (Response, ErrandModel.Response) async -> Void)?
    /// The type of ``failurePreprocessor``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype FailurePreprocessorMember = (@Sendable (ErrandError) async -> Void)?
    /// The type of ``successFilter``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype SuccessFilterMember = (@Sendable (Request<Self>) -> Void)?
    /// The type of ``failureFilter``; the compiler infers it, do not declare it.
    @_documentation(visibility: internal)
    associatedtype FailureFilterMember = (@Sendable (Request<Self>) -> Void)?

    // MARK: What the engine reads

    // Only a command that wraps another command and forwards its members implements these. Each one has a default that
    // converts the member of that name to the type that is sent. Generic code reads a command through these.

    /// ``method`` in the type that the engine reads; do not implement it.
    /// Throws ``ErrandError/invalidMethod`` if text is no HTTP token.
    @_documentation(visibility: internal)
    var givenMethod: HTTPRequest.Method { get throws(ErrandError) }
    /// ``baseURL`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenBaseURL: String? { get }
    /// ``cdnURL`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenCDNURL: String? { get }
    /// ``usesCDN`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenUsesCDN: Bool { get }
    /// ``urlRules`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenURLRules: URLRules? { get }
    /// ``query`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenQuery: [QueryItem] { get }
    /// ``parameters`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenParameters: Parameters? { get }
    /// ``parameterEncoding`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenParameterEncoding: ParameterEncoding { get }
    /// ``headers`` in the type that the engine reads; do not implement it.
    /// Throws ``ErrandError/invalidHeader`` if text is no header field.
    @_documentation(visibility: internal)
    var givenHeaders: HTTPFields { get throws(ErrandError) }
    /// ``body`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenBody: RequestBody { get }
    /// ``authorization`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenAuthorization: Authorization? { get }
    /// ``customRequest`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenCustomRequest: CustomRequest? { get }
    /// ``timeouts`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenTimeouts: Timeouts? { get }
    /// ``limits`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenLimits: Limits? { get }
    /// ``priority`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenPriority: Priority { get }
    /// ``connection`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenConnection: ConnectionOptions? { get }
    /// ``redirects`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenRedirects: RedirectPolicy? { get }
    /// ``options`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenOptions: CommandOptions { get }
    /// ``cache`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenCache: CachePolicy? { get }
    /// ``resilience`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenResilience: RequestResilience? { get }
    /// ``urlTemplate`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenURLTemplate: String? { get }
    /// ``coordinator`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenCoordinator: GroupCoordinator? { get }
    /// ``acceptedStatusCodes`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenAcceptedStatusCodes: StatusCodes { get }
    /// ``acceptedContentTypes`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenAcceptedContentTypes: ContentTypes { get }
    /// ``shape`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenShape: JSONShape? { get }
    /// ``jsonDecoder`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenJSONDecoder: JSONDecoder { get }
    /// ``interceptors`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenInterceptors: [any Interceptor] { get }
    /// ``validator`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenValidator: (@Sendable (Response, ErrandModel.Response) async throws -> Void)? { get }
    /// ``successPreprocessor`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenSuccessPreprocessor: (@Sendable (Response, ErrandModel.Response) async -> Void)? { get }
    /// ``failurePreprocessor`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenFailurePreprocessor: (@Sendable (ErrandError) async -> Void)? { get }
    /// ``successFilter`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenSuccessFilter: (@Sendable (Request<Self>) -> Void)? { get }
    /// ``failureFilter`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenFailureFilter: (@Sendable (Request<Self>) -> Void)? { get }
}

extension Command where MethodMember == HTTPRequest.Method {
    /// The default method: GET.
    @inlinable public var method: HTTPRequest.Method { .get }
}

extension Command where BaseURLMember == String? {
    /// The default: the client's base URL.
    @inlinable public var baseURL: String? { nil }
}

extension Command where QueryMember == [QueryItem] {
    /// The default: no query items.
    @inlinable public var query: [QueryItem] { [] }
}

extension Command where HeadersMember == HTTPFields {
    /// The default: no fields other than the client's.
    @inlinable public var headers: HTTPFields { HTTPFields() }
}

extension Command where BodyMember == RequestBody {
    /// The default: no body.
    @inlinable public var body: RequestBody { .empty }
}

extension Command where TimeoutsMember == Timeouts? {
    /// The default: the client's timeouts.
    @inlinable public var timeouts: Timeouts? { nil }
}

extension Command where LimitsMember == Limits? {
    /// The default: the client's limits.
    @inlinable public var limits: Limits? { nil }
}

extension Command where PriorityMember == Priority {
    /// The default priority: normal.
    @inlinable public var priority: Priority { .normal }
}

extension Command where ConnectionMember == ConnectionOptions? {
    /// The default: the client's connection options.
    @inlinable public var connection: ConnectionOptions? { nil }
}

extension Command where RedirectsMember == RedirectPolicy? {
    /// The default: the client's redirect policy.
    @inlinable public var redirects: RedirectPolicy? { nil }
}

extension Command where OptionsMember == CommandOptions {
    /// The default: no options other than the client's.
    @inlinable public var options: CommandOptions { [] }
}

extension Command where CacheMember == CachePolicy? {
    /// The default: the client's cache policy.
    @inlinable public var cache: CachePolicy? { nil }
}

extension Command where ResilienceMember == RequestResilience? {
    /// The default: the client's settings.
    @inlinable public var resilience: RequestResilience? { nil }
}

extension Command where URLTemplateMember == String? {
    /// The default: none.
    @inlinable public var urlTemplate: String? { nil }
}

extension Command where CoordinatorMember == GroupCoordinator? {
    /// The default: no coordinator.
    @inlinable public var coordinator: GroupCoordinator? { nil }
}
