public import Errand

extension InterceptionContext {
    /// Makes a context without a request, to test an interceptor by itself.
    ///
    /// ```swift
    /// let next = InterceptorNext { _ in Response(statusCode: 200) }
    /// let response = try await signing.intercept(request, in: .testing(), next: next)
    /// ```
    ///
    /// Each context is a separate run: its ``/Errand/InterceptionContext/storage`` is empty. `next` may be called as
    /// often as the interceptor likes. A ``/Errand/StepwiseInterceptor`` counts its replays, up to
    /// ``/Errand/InterceptionContext/replayLimit``. Any thread.
    ///
    /// - Parameters:
    ///   - command: The command that the interceptor sees. Default: a GET of `http://test/`.
    ///   - replays: The number of replays so far. Default: none.
    ///   - lastURL: The URL of the last transfer. Default, `nil`: there was none.
    ///   - client: The client that runs the commands of ``/Errand/InterceptionContext/run(_:overrides:)`` and defines
    ///     which origins are its own. Default, `nil`: such commands fail with ``/Errand/ErrandError/invalidArgument``,
    ///     and all origins count as own ones.
    public static func testing(
        command: any Command = RawCommand(url: "http://test/"), replays: Int = 0, lastURL: String? = nil,
        client: Client? = nil
    ) -> InterceptionContext {
        InterceptionContext(testing: command, replays: replays, lastURL: lastURL, client: client)
    }
}
