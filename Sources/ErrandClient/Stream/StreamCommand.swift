import FoundationEssentials

/// Tells such a command by.
protocol StreamedCommand {}

/// A command whose response is streamed: it is built as `command` says, and judged by its head.
struct StreamCommand<C: Command>: Command, StreamedCommand {
    typealias Response = ErrandModel.Response
    let command: C

    var path: String { command.path }
    var givenCoordinator: GroupCoordinator? { command.givenCoordinator }
    var givenJSONDecoder: JSONDecoder { command.givenJSONDecoder }
    /// Nobody has the body as a whole.
    var cache: CachePolicy? { .off }
    var givenRedirects: RedirectPolicy? { command.givenRedirects }
    var givenAcceptedStatusCodes: StatusCodes { command.givenAcceptedStatusCodes }
    var givenAcceptedContentTypes: ContentTypes { command.givenAcceptedContentTypes }
    var givenInterceptors: [any Interceptor] { command.givenInterceptors }
    var givenFailurePreprocessor: (@Sendable (ErrandError) async -> Void)? { command.givenFailurePreprocessor }
}
