extension Client {
    /// Runs a command and returns as soon as a response with an accepted status and content type begins; its body is read
    /// from ``StreamedResponse/body``, with backpressure to the socket.
    ///
    /// ``Limits/bodyBytes`` and ``Limits/decodedBytes`` count only where the command, an override or
    /// the client's settings give them; the library's own 64 MiB do not count here, as nothing is kept.
    /// ``Timeouts/idle`` does not count while nobody reads. Redirects, interceptors and authentication act before the
    /// caller sees a head, whether the command accepts its status or not: interceptors are asked for replays with the head
    /// alone where it is a success (2xx), of any other status with the body as well, or with what came of it in a second
    /// or as 64 KiB. A redirect is decided by its head.
    ///
    /// Not run, as nobody has the body as a whole and there is no value: `decode`, `shape`, `validator`,
    /// `successPreprocessor`, `successFilter`, `failureFilter`, and interceptors' `transform` of what is accepted;
    /// `failurePreprocessor` is. A response that is not accepted throws with up to 1 MiB of its body; the rest is not
    /// waited for. Accessories hear `requestDidStop` when the body has ended.
    ///
    /// What comes does not wait for the callback queue, so a closure there that takes its time holds up no reader. The end
    /// does where accessories are to hear of it first.
    ///
    /// Throws ``ErrandError``; `CancellationError` where the task was cancelled or the request stopped.
    public func stream<C: Command>(_ command: C, overrides: RequestOverrides? = nil) async throws -> StreamedResponse {
        try Task.checkCancellation()
        let request = Request(
            client: self, command: StreamCommand(command: command), callbacks: queueOfReader, overrides: overrides)
        let stream = ResponseStream(command) { [unowned request] in request.verdict(on: $0) }
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
