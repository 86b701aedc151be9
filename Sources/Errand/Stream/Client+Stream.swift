import HTTPTypes

extension Client {
    /// Runs a command and returns as soon as a response with an accepted status and content type begins; its body is read
    /// from ``StreamedResponse/body``, with backpressure to the socket.
    ///
    /// ``Limits/bodyBytes`` and ``Limits/decodedBytes`` count only where the command gives them, as nothing is kept.
    /// ``Timeouts/idle`` does not count while nobody reads. Redirects, interceptors and authentication act before the
    /// caller sees a head; `decode`, `shape`, `validator` and interceptors' `transform` are not asked about a body that
    /// nobody has as a whole. A response that is not accepted throws with up to 1 MiB of its body. Accessories hear
    /// `requestDidStop` when the body has ended.
    ///
    /// Throws ``ErrandError``; `CancellationError` where the task was cancelled or the request stopped.
    public func stream<C: Command>(_ command: C, overrides: RequestOverrides? = nil) async throws -> StreamedResponse {
        try Task.checkCancellation()
        let request = Request(
            client: self, command: StreamCommand(command: command), callbacks: callbacks, overrides: overrides)
        let stream = ResponseStream(command) { [unowned request] in request.takesHead($0) }
        request.attach(stream)
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                stream.wait(continuation)
                request.start()
                // A task cancelled before that has had its handler called when there was nothing to stop yet.
                if Task.isCancelled { request.stop() }
            }
        } onCancel: {
            request.stop()
        }
    }
}

extension Request {
    /// Whether a response with this head is the one, so that its body may go to the caller.
    func takesHead(_ head: Response) -> Bool {
        if RedirectRules.isRedirect(head.statusCode), redirectPolicy.limit > 0, head.header(.location) != nil {
            return false
        }
        guard accepts(statusCode: head.statusCode) else { return false }
        let types = overrides?.acceptedContentTypes ?? command.acceptedContentTypes
        return types == .any || types.accepts(contentType: head.header(.contentType)) || head.hasNoBody
    }
}

extension Response {
    /// By its status or its length (RFC 9110 6.4.1).
    fileprivate var hasNoBody: Bool {
        statusCode == 204 || statusCode == 205 || statusCode == 304 || header(.contentLength) == "0"
    }
}
