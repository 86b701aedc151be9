import FoundationEssentials

extension Client {
    /// Runs a command and returns as soon as a response with an accepted status and content type begins. The body is
    /// read from ``StreamedResponse/body``, with backpressure to the socket.
    ///
    /// ``Limits/bodyBytes`` and ``Limits/decodedBytes`` apply only if the command, an override or the client's settings
    /// set them; the library's default of 64 MiB does not apply here, because nothing is buffered. ``Timeouts/idle`` does
    /// not count while the body is not being read.
    ///
    /// Redirects, interceptors and authentication act before the caller sees a head, whether the command accepts its
    /// status or not. For a success (2xx) `next` of the interceptors returns the head alone. For any other status they
    /// also get the body, or the part of it that arrived within a second or in the first 64 KiB; see
    /// ``InterceptorNext``. A redirect is decided by its head.
    ///
    /// The complete body and a value are not available here. Therefore these are not called: `decode`, `shape`,
    /// `validator`, `successPreprocessor`, `successFilter`, `failureFilter`, and interceptors' `transform` for accepted
    /// responses. `failurePreprocessor` is called. If a response is not accepted, the thrown error has up to 1 MiB of its
    /// body; the rest is not read. Accessories get `requestDidStop` when the body has ended.
    ///
    /// The body does not wait for the callback queue, so a slow closure there does not delay the reader. The end of the
    /// body does wait if accessories have to be called first.
    ///
    /// Throws ``ErrandError``, or `CancellationError` if the task was cancelled or the request was stopped.
    public func stream<C: Command>(_ command: C, overrides: RequestOverrides? = nil) async throws -> StreamedResponse {
        try Task.checkCancellation()
        let queue = queueOfStream(with: overrides?.redirects ?? command.givenRedirects ?? redirects)
        let request = Request(
            client: self, command: StreamCommand(command: command), callbacks: queue, overrides: overrides)
        let stream = ResponseStream(command) { [unowned request] in request.verdict(on: $0) }
        request.attach(stream)
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                stream.wait(continuation)
                request.start()
                // If the task was cancelled earlier, its cancellation handler ran when there was nothing to stop yet.
                if Task.isCancelled { request.stop() }
            }
        } onCancel: {
            request.stop()
        }
    }
}

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
    var givenResilience: RequestResilience? { command.givenResilience }
    var givenFailurePreprocessor: (@Sendable (ErrandError) async -> Void)? { command.givenFailurePreprocessor }
}
