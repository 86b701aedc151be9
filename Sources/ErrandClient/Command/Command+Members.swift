public import FoundationEssentials
public import HTTPTypes

// How the engine reads a command's members. The type of each member is compared with concrete types, so that generic code
// needs no metadata of an associated type, which costs some 300 instructions to look up; inlinable, so that the defaults
// of a command are constants in its own module. So are the defaults: one for commands of any type of that member would be
// found in its place wherever generic code reads the member.

extension Command where MethodMember == HTTPRequest.Method {
    /// As it is.
    @inlinable public var givenMethod: HTTPRequest.Method { method }
}

extension Command where BaseURLMember == String? {
    /// As it is.
    @inlinable public var givenBaseURL: String? { baseURL }
}

extension Command where BaseURLMember == String {
    /// As it is.
    @inlinable public var givenBaseURL: String? { baseURL }
}

extension Command where CDNURLMember == String? {
    /// As it is.
    @inlinable public var givenCDNURL: String? { cdnURL }
}

extension Command where CDNURLMember == String {
    /// As it is.
    @inlinable public var givenCDNURL: String? { cdnURL }
}

extension Command where UsesCDNMember == Bool {
    /// As it is.
    @inlinable public var givenUsesCDN: Bool { usesCDN }
}

extension Command where URLRulesMember == URLRules? {
    /// As it is.
    @inlinable public var givenURLRules: URLRules? { urlRules }
}

extension Command where URLRulesMember == URLRules {
    /// As it is.
    @inlinable public var givenURLRules: URLRules? { urlRules }
}

extension Command where QueryMember == [QueryItem] {
    /// As it is.
    @inlinable public var givenQuery: [QueryItem] { query }
}

extension Command where ParametersMember == Parameters? {
    /// As it is.
    @inlinable public var givenParameters: Parameters? { parameters }
}

extension Command where ParametersMember == Parameters {
    /// As it is.
    @inlinable public var givenParameters: Parameters? { parameters }
}

extension Command where ParameterEncodingMember == ParameterEncoding {
    /// As it is.
    @inlinable public var givenParameterEncoding: ParameterEncoding { parameterEncoding }
}

extension Command where HeadersMember == HTTPFields {
    /// As it is.
    @inlinable public var givenHeaders: HTTPFields { headers }
}

extension Command where BodyMember == RequestBody {
    /// As it is.
    @inlinable public var givenBody: RequestBody { body }
}

extension Command where AuthorizationMember == Authorization? {
    /// As it is.
    @inlinable public var givenAuthorization: Authorization? { authorization }
}

extension Command where AuthorizationMember == Authorization {
    /// As it is.
    @inlinable public var givenAuthorization: Authorization? { authorization }
}

extension Command where CustomRequestMember == CustomRequest? {
    /// As it is.
    @inlinable public var givenCustomRequest: CustomRequest? { customRequest }
}

extension Command where CustomRequestMember == CustomRequest {
    /// As it is.
    @inlinable public var givenCustomRequest: CustomRequest? { customRequest }
}

extension Command where TimeoutsMember == Timeouts? {
    /// As it is.
    @inlinable public var givenTimeouts: Timeouts? { timeouts }
}

extension Command where TimeoutsMember == Timeouts {
    /// As it is.
    @inlinable public var givenTimeouts: Timeouts? { timeouts }
}

extension Command where LimitsMember == Limits? {
    /// As it is.
    @inlinable public var givenLimits: Limits? { limits }
}

extension Command where LimitsMember == Limits {
    /// As it is.
    @inlinable public var givenLimits: Limits? { limits }
}

extension Command where PriorityMember == Priority {
    /// As it is.
    @inlinable public var givenPriority: Priority { priority }
}

extension Command where ConnectionMember == ConnectionOptions? {
    /// As it is.
    @inlinable public var givenConnection: ConnectionOptions? { connection }
}

extension Command where ConnectionMember == ConnectionOptions {
    /// As it is.
    @inlinable public var givenConnection: ConnectionOptions? { connection }
}

extension Command where RedirectsMember == RedirectPolicy? {
    /// As it is.
    @inlinable public var givenRedirects: RedirectPolicy? { redirects }
}

extension Command where RedirectsMember == RedirectPolicy {
    /// As it is.
    @inlinable public var givenRedirects: RedirectPolicy? { redirects }
}

extension Command where OptionsMember == CommandOptions {
    /// As it is.
    @inlinable public var givenOptions: CommandOptions { options }
}

extension Command where CacheMember == CachePolicy? {
    /// As it is.
    @inlinable public var givenCache: CachePolicy? { cache }
}

extension Command where CacheMember == CachePolicy {
    /// As it is.
    @inlinable public var givenCache: CachePolicy? { cache }
}

extension Command where CoordinatorMember == GroupCoordinator? {
    /// As it is.
    @inlinable public var givenCoordinator: GroupCoordinator? { coordinator }
}

extension Command where CoordinatorMember == GroupCoordinator {
    /// As it is.
    @inlinable public var givenCoordinator: GroupCoordinator? { coordinator }
}

extension Command where AcceptedStatusCodesMember == StatusCodes {
    /// As it is.
    @inlinable public var givenAcceptedStatusCodes: StatusCodes { acceptedStatusCodes }
}

extension Command where AcceptedContentTypesMember == ContentTypes {
    /// As it is.
    @inlinable public var givenAcceptedContentTypes: ContentTypes { acceptedContentTypes }
}

extension Command where ShapeMember == JSONShape? {
    /// As it is.
    @inlinable public var givenShape: JSONShape? { shape }
}

extension Command where ShapeMember == JSONShape {
    /// As it is.
    @inlinable public var givenShape: JSONShape? { shape }
}

extension Command where JSONDecoderMember == JSONDecoder {
    /// As it is.
    @inlinable public var givenJSONDecoder: JSONDecoder { jsonDecoder }
}

extension Command where InterceptorsMember == [any Interceptor] {
    /// As it is.
    @inlinable public var givenInterceptors: [any Interceptor] { interceptors }
}

extension Command where ValidatorMember == (@Sendable (Response, ErrandModel.Response) async throws -> Void)? {
    /// As it is.
    @inlinable public var givenValidator: (@Sendable (Response, ErrandModel.Response) async throws -> Void)? {
        validator
    }
}

extension Command where ValidatorMember == @Sendable (Response, ErrandModel.Response) async throws -> Void {
    /// As it is.
    @inlinable public var givenValidator: (@Sendable (Response, ErrandModel.Response) async throws -> Void)? {
        validator
    }
}

extension Command where SuccessPreprocessorMember == (@Sendable (Response, ErrandModel.Response) async -> Void)? {
    /// As it is.
    @inlinable public var givenSuccessPreprocessor: (@Sendable (Response, ErrandModel.Response) async -> Void)? {
        successPreprocessor
    }
}

extension Command where SuccessPreprocessorMember == @Sendable (Response, ErrandModel.Response) async -> Void {
    /// As it is.
    @inlinable public var givenSuccessPreprocessor: (@Sendable (Response, ErrandModel.Response) async -> Void)? {
        successPreprocessor
    }
}

extension Command where FailurePreprocessorMember == (@Sendable (ErrandError) async -> Void)? {
    /// As it is.
    @inlinable public var givenFailurePreprocessor: (@Sendable (ErrandError) async -> Void)? { failurePreprocessor }
}

extension Command where FailurePreprocessorMember == @Sendable (ErrandError) async -> Void {
    /// As it is.
    @inlinable public var givenFailurePreprocessor: (@Sendable (ErrandError) async -> Void)? { failurePreprocessor }
}

extension Command where SuccessFilterMember == (@Sendable (Request<Self>) -> Void)? {
    /// As it is.
    @inlinable public var givenSuccessFilter: (@Sendable (Request<Self>) -> Void)? { successFilter }
}

extension Command where SuccessFilterMember == @Sendable (Request<Self>) -> Void {
    /// As it is.
    @inlinable public var givenSuccessFilter: (@Sendable (Request<Self>) -> Void)? { successFilter }
}

extension Command where FailureFilterMember == (@Sendable (Request<Self>) -> Void)? {
    /// As it is.
    @inlinable public var givenFailureFilter: (@Sendable (Request<Self>) -> Void)? { failureFilter }
}

extension Command where FailureFilterMember == @Sendable (Request<Self>) -> Void {
    /// As it is.
    @inlinable public var givenFailureFilter: (@Sendable (Request<Self>) -> Void)? { failureFilter }
}
