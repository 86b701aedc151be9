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
/// Everything but ``path`` has a default. A command is read once per start, on the thread that starts it, and turned
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

    /// Default: GET (YTKNetwork `requestMethod`).
    var method: HTTPRequest.Method { get }

    /// Absolute (`http://...`), or relative to the base URL (as if that ended with `/`) as RFC 3986 5.2 says: `users/1` is
    /// appended to it, `/users/1` replaces the base's path. Spaces and non-ASCII characters are percent-encoded, an existing
    /// `%41` is kept, a `%` that begins no such escape becomes `%25`; the segments `.` and `..` are removed from absolute and relative ones alike (5.2.4), `%2e` is kept.
    /// A relative path whose first segment has a colon is written `./a:b`. An absolute URL, and `//host/x`, leads to any
    /// host; the client's default credentials do not, see ``Client/Settings/authorization`` (YTKNetwork `requestUrl`).
    var path: String { get }

    /// `nil`, the default, or empty: ``Client/Settings/baseURL`` (YTKNetwork `baseUrl`).
    var baseURL: String? { get }

    /// `nil`, the default, or empty: ``Client/Settings/cdnURL`` (YTKNetwork `cdnUrl`).
    var cdnURL: String? { get }

    /// Whether a relative path is joined to the CDN's URL and not to the base URL. Where there is none the request fails
    /// with ``ErrandError/invalidURL``: it never falls back to the base URL, which may be another host altogether.
    /// Default: no (YTKNetwork `useCDN`).
    var usesCDN: Bool { get }

    /// How ``path`` becomes a URL: joining and filters. `nil`, the default: as ``Client/Settings`` say.
    var urlRules: URLRules? { get }

    /// Appended to the URL's own query, percent-encoded. Default: none.
    var query: [QueryItem] { get }

    /// Values that go where ``parameterEncoding`` says. Default: none (YTKNetwork `requestArgument`).
    var parameters: Parameters? { get }

    /// Where and how ``parameters`` are sent. Default: in the query for GET, HEAD and DELETE, as a form otherwise
    /// (YTKNetwork `requestSerializerType`).
    var parameterEncoding: ParameterEncoding { get }

    /// Fields of this request; a name given here replaces the client's default of that name. Default: none
    /// (YTKNetwork `requestHeaderFieldValueDictionary`).
    var headers: HTTPFields { get }

    /// Default: none (YTKNetwork `constructingBodyBlock`, and what `requestArgument` could not say).
    var body: RequestBody { get }

    /// `nil`, the default: ``Client/Settings/authorization``. An `Authorization` field in ``headers`` wins over it
    /// (YTKNetwork `requestAuthorizationHeaderFieldArray`).
    var authorization: Authorization? { get }

    /// Sent in place of what the members above say. Default: none (YTKNetwork `buildCustomUrlRequest`).
    var customRequest: CustomRequest? { get }

    // MARK: How to send it

    /// `nil`, the default, and each member that is: ``Client/Settings/timeouts`` (YTKNetwork `requestTimeoutInterval`).
    var timeouts: Timeouts? { get }

    /// `nil`, the default, and each member that is: ``Client/Settings/limits``.
    var limits: Limits? { get }

    /// Among the requests of a client, so that there is no default of the client's. Default: normal (YTKNetwork
    /// `requestPriority`).
    var priority: Priority { get }

    /// How to reach the server. `nil`, the default, and each member that is: ``Client/Settings/connection``.
    var connection: ConnectionOptions? { get }

    /// `nil`, the default: ``Client/Settings/redirects``.
    var redirects: RedirectPolicy? { get }

    /// Rarely used switches, beside those of ``Client/Settings/options``. Default: none.
    var options: CommandOptions { get }

    /// Whether and how the response is cached. Asked once for each request, when that is made. `nil`, the default:
    /// ``Client/Settings/cache`` (YTKNetwork `cacheTimeInSeconds`, `cacheVersion`, `cacheSensitiveData`).
    var cache: CachePolicy? { get }

    /// What a ``Batch``, a ``Chain``, a ``RequestGraph`` or a ``Download`` has in place of a transfer; a command that stands
    /// for one of them passes its coordinator on, and for a download its ``decode(_:)`` too. Asked once for each request,
    /// when that is made. Default: `nil`.
    var coordinator: GroupCoordinator? { get }

    // MARK: What comes back

    /// The statuses that count as success; a response with another one fails with ``ErrandError/statusNotAccepted``, which
    /// carries the response. Default: ``StatusCodes/inherited``, which ``Client/Settings/acceptedStatusCodes`` says: 200...299
    /// (YTKNetwork `statusCodeValidator`).
    var acceptedStatusCodes: StatusCodes { get }

    /// The content types taken; a response with another one fails with ``ErrandError/contentTypeNotAccepted``. Judged
    /// after the status. Default: ``ContentTypes/inherited``, which ``Client/Settings/acceptedContentTypes`` says: any
    /// (AFNetworking `acceptableContentTypes`).
    var acceptedContentTypes: ContentTypes { get }

    /// What the body, read as JSON, must look like; if it does not, the request fails with
    /// ``ErrandError/shapeMismatch``. `nil`, the default: no check (YTKNetwork `jsonValidator`).
    var shape: JSONShape? { get }

    /// Turns an accepted response into the command's value. An error thrown here that is no ``ErrandError`` becomes
    /// the `underlyingError` of ``ErrandError/responseDecodingFailed``.
    /// ``Errand/Response/decode(_:using:)`` of the response given here takes the decoder of ``jsonDecoder`` unless told another.
    func decode(_ response: ErrandModel.Response) throws -> Response

    /// Reads `Decodable` values. Must not be changed while requests run. Default: one that stands for
    /// ``Client/Settings/jsonDecoder``, as an argument of ``Errand/Response/decode(_:using:)`` too.
    var jsonDecoder: JSONDecoder { get }

    // MARK: Hooks

    /// Stand between this command and the network, after the client's. Default: none.
    var interceptors: [any Interceptor] { get }

    /// The business rules of a decoded value: throws where a response that came well is none all the same, as an error
    /// code within a 200. In a task of the request's own. An ``ErrandError`` ends the request as it is, any other error
    /// as the `underlyingError` of ``ErrandError/validationFailed``. `nil`, the default: there are none.
    var validator: (@Sendable (Response, ErrandModel.Response) async throws -> Void)? { get }

    /// Runs after a success, off the callback queue and before anybody is told (YTKNetwork
    /// `requestCompletePreprocessor`). Of a run one preprocessor is called at most: where ``Timeouts/total`` is up while it
    /// runs, the run ends with that at once, and the other is not called. Default: `nil`.
    var successPreprocessor: (@Sendable (Response, ErrandModel.Response) async -> Void)? { get }

    /// Runs after a failure, off the callback queue and before anybody is told; not after a stop or the client's shutdown,
    /// which wait for nothing (YTKNetwork `requestFailedPreprocessor`). Default: `nil`.
    var failurePreprocessor: (@Sendable (ErrandError) async -> Void)? { get }

    /// Runs on the callback queue after accessories heard `requestWillStop`, before delegate and closures (YTKNetwork
    /// `requestCompleteFilter`). Default: `nil`.
    var successFilter: (@Sendable (Request<Self>) -> Void)? { get }

    /// The same after a failure; not after a stop (YTKNetwork `requestFailedFilter`). Default: `nil`.
    var failureFilter: (@Sendable (Request<Self>) -> Void)? { get }
}

extension Command {
    /// GET.
    public var method: HTTPRequest.Method { .get }
    /// The client's.
    public var baseURL: String? { nil }
    /// None.
    public var query: [QueryItem] { [] }
    /// None but the client's.
    public var headers: HTTPFields { HTTPFields() }
    /// None.
    public var body: RequestBody { .empty }
    /// The client's.
    public var timeouts: Timeouts? { nil }
    /// The client's.
    public var limits: Limits? { nil }
    /// Normal.
    public var priority: Priority { .normal }
    /// The client's.
    public var connection: ConnectionOptions? { nil }
    /// The client's.
    public var redirects: RedirectPolicy? { nil }
    /// None but the client's.
    public var options: CommandOptions { [] }
    /// The client's.
    public var cache: CachePolicy? { nil }
    /// None.
    public var coordinator: GroupCoordinator? { nil }
}
