import FoundationEssentials

/// Marks commands whose response is streamed.
protocol StreamedCommand {}

/// A command whose response is streamed: it is built as `command` is, and judged by its head.
struct StreamCommand<C: Command>: Command, StreamedCommand {
    typealias Response = ErrandModel.Response
    let command: C

    var path: String { command.path }
    var givenCoordinator: GroupCoordinator? { command.givenCoordinator }
    var givenJSONDecoder: JSONDecoder { command.givenJSONDecoder }
    /// Off, because the complete body is never available.
    var cache: CachePolicy? { .off }
    var givenRedirects: RedirectPolicy? { command.givenRedirects }
    var givenAcceptedStatusCodes: StatusCodes { command.givenAcceptedStatusCodes }
    var givenAcceptedContentTypes: ContentTypes { command.givenAcceptedContentTypes }
    var givenInterceptors: [any Interceptor] { command.givenInterceptors }
    var givenFailurePreprocessor: (@Sendable (ErrandError) async -> Void)? { command.givenFailurePreprocessor }
}
