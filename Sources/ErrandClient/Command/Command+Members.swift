public import FoundationEssentials
public import HTTPTypes

// How the engine reads a command's members. Each extension compares the member's type with a concrete type: generic
// code then needs no metadata of an associated type, whose lookup costs some 300 instructions. The members are
// inlinable, so that a command's defaults are constants in its own module. The defaults compare concrete types too: a
// default for any type of a member would hide the command's own member from generic code that reads it.

extension Command where MethodMember == HTTPRequest.Method {
    /// Returns `method` unchanged.
    @inlinable public var givenMethod: HTTPRequest.Method { method }
}

extension Command where BaseURLMember == String? {
    /// Returns `baseURL` unchanged.
    @inlinable public var givenBaseURL: String? { baseURL }
}

extension Command where BaseURLMember == String {
    /// Returns `baseURL` unchanged.
    @inlinable public var givenBaseURL: String? { baseURL }
}

extension Command where CDNURLMember == String? {
    /// Returns `cdnURL` unchanged.
    @inlinable public var givenCDNURL: String? { cdnURL }
}

extension Command where CDNURLMember == String {
    /// Returns `cdnURL` unchanged.
    @inlinable public var givenCDNURL: String? { cdnURL }
}

extension Command where UsesCDNMember == Bool {
    /// Returns `usesCDN` unchanged.
    @inlinable public var givenUsesCDN: Bool { usesCDN }
}

extension Command where URLRulesMember == URLRules? {
    /// Returns `urlRules` unchanged.
    @inlinable public var givenURLRules: URLRules? { urlRules }
}

extension Command where URLRulesMember == URLRules {
    /// Returns `urlRules` unchanged.
    @inlinable public var givenURLRules: URLRules? { urlRules }
}

extension Command where QueryMember == [QueryItem] {
    /// Returns `query` unchanged.
    @inlinable public var givenQuery: [QueryItem] { query }
}

extension Command where ParametersMember == Parameters? {
    /// Returns `parameters` unchanged.
    @inlinable public var givenParameters: Parameters? { parameters }
}

extension Command where ParametersMember == Parameters {
    /// Returns `parameters` unchanged.
    @inlinable public var givenParameters: Parameters? { parameters }
}

extension Command where ParameterEncodingMember == ParameterEncoding {
    /// Returns `parameterEncoding` unchanged.
    @inlinable public var givenParameterEncoding: ParameterEncoding { parameterEncoding }
}

extension Command where HeadersMember == HTTPFields {
    /// Returns `headers` unchanged.
    @inlinable public var givenHeaders: HTTPFields { headers }
}

extension Command where BodyMember == RequestBody {
    /// Returns `body` unchanged.
    @inlinable public var givenBody: RequestBody { body }
}

extension Command where AuthorizationMember == Authorization? {
    /// Returns `authorization` unchanged.
    @inlinable public var givenAuthorization: Authorization? { authorization }
}

extension Command where AuthorizationMember == Authorization {
    /// Returns `authorization` unchanged.
    @inlinable public var givenAuthorization: Authorization? { authorization }
}

extension Command where CustomRequestMember == CustomRequest? {
    /// Returns `customRequest` unchanged.
    @inlinable public var givenCustomRequest: CustomRequest? { customRequest }
}

extension Command where CustomRequestMember == CustomRequest {
    /// Returns `customRequest` unchanged.
    @inlinable public var givenCustomRequest: CustomRequest? { customRequest }
}

extension Command where TimeoutsMember == Timeouts? {
    /// Returns `timeouts` unchanged.
    @inlinable public var givenTimeouts: Timeouts? { timeouts }
}

extension Command where TimeoutsMember == Timeouts {
    /// Returns `timeouts` unchanged.
    @inlinable public var givenTimeouts: Timeouts? { timeouts }
}

extension Command where LimitsMember == Limits? {
    /// Returns `limits` unchanged.
    @inlinable public var givenLimits: Limits? { limits }
}

extension Command where LimitsMember == Limits {
    /// Returns `limits` unchanged.
    @inlinable public var givenLimits: Limits? { limits }
}

extension Command where PriorityMember == Priority {
    /// Returns `priority` unchanged.
    @inlinable public var givenPriority: Priority { priority }
}

extension Command where ConnectionMember == ConnectionOptions? {
    /// Returns `connection` unchanged.
    @inlinable public var givenConnection: ConnectionOptions? { connection }
}

extension Command where ConnectionMember == ConnectionOptions {
    /// Returns `connection` unchanged.
    @inlinable public var givenConnection: ConnectionOptions? { connection }
}

extension Command where RedirectsMember == RedirectPolicy? {
    /// Returns `redirects` unchanged.
    @inlinable public var givenRedirects: RedirectPolicy? { redirects }
}

extension Command where RedirectsMember == RedirectPolicy {
    /// Returns `redirects` unchanged.
    @inlinable public var givenRedirects: RedirectPolicy? { redirects }
}

extension Command where OptionsMember == CommandOptions {
    /// Returns `options` unchanged.
    @inlinable public var givenOptions: CommandOptions { options }
}

extension Command where CacheMember == CachePolicy? {
    /// Returns `cache` unchanged.
    @inlinable public var givenCache: CachePolicy? { cache }
}

extension Command where CacheMember == CachePolicy {
    /// Returns `cache` unchanged.
    @inlinable public var givenCache: CachePolicy? { cache }
}

extension Command where ResilienceMember == RequestResilience? {
    /// Returns `resilience` unchanged.
    @inlinable public var givenResilience: RequestResilience? { resilience }
}

extension Command where ResilienceMember == RequestResilience {
    /// Returns `resilience` unchanged.
    @inlinable public var givenResilience: RequestResilience? { resilience }
}

extension Command where URLTemplateMember == String? {
    /// Returns `urlTemplate` unchanged.
    @inlinable public var givenURLTemplate: String? { urlTemplate }
}

extension Command where URLTemplateMember == String {
    /// Returns `urlTemplate` unchanged.
    @inlinable public var givenURLTemplate: String? { urlTemplate }
}

extension Command where CoordinatorMember == GroupCoordinator? {
    /// Returns `coordinator` unchanged.
    @inlinable public var givenCoordinator: GroupCoordinator? { coordinator }
}

extension Command where CoordinatorMember == GroupCoordinator {
    /// Returns `coordinator` unchanged.
    @inlinable public var givenCoordinator: GroupCoordinator? { coordinator }
}

extension Command where AcceptedStatusCodesMember == StatusCodes {
    /// Returns `acceptedStatusCodes` unchanged.
    @inlinable public var givenAcceptedStatusCodes: StatusCodes { acceptedStatusCodes }
}

extension Command where AcceptedContentTypesMember == ContentTypes {
    /// Returns `acceptedContentTypes` unchanged.
    @inlinable public var givenAcceptedContentTypes: ContentTypes { acceptedContentTypes }
}

extension Command where ShapeMember == JSONShape? {
    /// Returns `shape` unchanged.
    @inlinable public var givenShape: JSONShape? { shape }
}

extension Command where ShapeMember == JSONShape {
    /// Returns `shape` unchanged.
    @inlinable public var givenShape: JSONShape? { shape }
}

extension Command where JSONDecoderMember == JSONDecoder {
    /// Returns `jsonDecoder` unchanged.
    @inlinable public var givenJSONDecoder: JSONDecoder { jsonDecoder }
}

extension Command where InterceptorsMember == [any Interceptor] {
    /// Returns `interceptors` unchanged.
    @inlinable public var givenInterceptors: [any Interceptor] { interceptors }
}

extension Command where ValidatorMember == (@Sendable (Response, ErrandModel.Response) async throws -> Void)? {
    /// Returns `validator` unchanged.
    @inlinable public var givenValidator: (@Sendable (Response, ErrandModel.Response) async throws -> Void)? {
        validator
    }
}

extension Command where ValidatorMember == @Sendable (Response, ErrandModel.Response) async throws -> Void {
    /// Returns `validator` unchanged.
    @inlinable public var givenValidator: (@Sendable (Response, ErrandModel.Response) async throws -> Void)? {
        validator
    }
}

extension Command where SuccessPreprocessorMember == (@Sendable (Response, ErrandModel.Response) async -> Void)? {
    /// Returns `successPreprocessor` unchanged.
    @inlinable public var givenSuccessPreprocessor: (@Sendable (Response, ErrandModel.Response) async -> Void)? {
        successPreprocessor
    }
}

extension Command where SuccessPreprocessorMember == @Sendable (Response, ErrandModel.Response) async -> Void {
    /// Returns `successPreprocessor` unchanged.
    @inlinable public var givenSuccessPreprocessor: (@Sendable (Response, ErrandModel.Response) async -> Void)? {
        successPreprocessor
    }
}

extension Command where FailurePreprocessorMember == (@Sendable (ErrandError) async -> Void)? {
    /// Returns `failurePreprocessor` unchanged.
    @inlinable public var givenFailurePreprocessor: (@Sendable (ErrandError) async -> Void)? { failurePreprocessor }
}

extension Command where FailurePreprocessorMember == @Sendable (ErrandError) async -> Void {
    /// Returns `failurePreprocessor` unchanged.
    @inlinable public var givenFailurePreprocessor: (@Sendable (ErrandError) async -> Void)? { failurePreprocessor }
}

extension Command where SuccessFilterMember == (@Sendable (Request<Self>) -> Void)? {
    /// Returns `successFilter` unchanged.
    @inlinable public var givenSuccessFilter: (@Sendable (Request<Self>) -> Void)? { successFilter }
}

extension Command where SuccessFilterMember == @Sendable (Request<Self>) -> Void {
    /// Returns `successFilter` unchanged.
    @inlinable public var givenSuccessFilter: (@Sendable (Request<Self>) -> Void)? { successFilter }
}

extension Command where FailureFilterMember == (@Sendable (Request<Self>) -> Void)? {
    /// Returns `failureFilter` unchanged.
    @inlinable public var givenFailureFilter: (@Sendable (Request<Self>) -> Void)? { failureFilter }
}

extension Command where FailureFilterMember == @Sendable (Request<Self>) -> Void {
    /// Returns `failureFilter` unchanged.
    @inlinable public var givenFailureFilter: (@Sendable (Request<Self>) -> Void)? { failureFilter }
}
