import FoundationEssentials

/// Tells such a command by.
protocol StreamedCommand {}

/// A command whose response is streamed: it is built as `command` says, and judged by its head.
struct StreamCommand<C: Command>: Command, StreamedCommand {
    typealias Response = ErrandModel.Response
    let command: C

    var path: String { command.path }
    var coordinator: GroupCoordinator? { command.coordinator }
    var jsonDecoder: JSONDecoder { command.jsonDecoder }
    /// Nobody has the body as a whole.
    var cache: CachePolicy? { .off }
    var redirects: RedirectPolicy? { command.redirects }
    var acceptedStatusCodes: StatusCodes { command.acceptedStatusCodes }
    var acceptedContentTypes: ContentTypes { command.acceptedContentTypes }
    var interceptors: [any Interceptor] { command.interceptors }
    var failurePreprocessor: (@Sendable (ErrandError) async -> Void)? { command.failurePreprocessor }
}
