/// What an ``Interceptor`` did wrong: the `underlyingError` of ``ErrandError/interceptionFailed``.
public enum InterceptionMisuse: String, Error, Sendable, Hashable, CaseIterable {
    /// `next` was called while another call was under way.
    case concurrentCalls
    /// `next` was called more often than ``InterceptionContext/replayLimit`` allows.
    case tooManyTransfers
    /// An interceptor changed the body of a streamed response. The caller reads that body from the stream.
    case changedStream
    /// An interceptor returned a streamed response that a later call of `next` had cancelled.
    case cancelledStream
    /// Interceptors ran commands whose interceptors ran commands in turn, more than eight levels deep.
    case tooDeep
}

extension InterceptionMisuse: CustomStringConvertible {
    /// One lower-case sentence.
    public var description: String {
        switch self {
        case .concurrentCalls: "an interceptor called next while another call was under way"
        case .tooManyTransfers: "interceptors sent the request more than \(1 + InterceptionContext.replayLimit) times"
        case .changedStream: "an interceptor changed the body of a streamed response"
        case .cancelledStream: "an interceptor returned a streamed response that a later call of next has cancelled"
        case .tooDeep: "commands that interceptors ran are nested more than \(InterceptionScope.limit) levels deep"
        }
    }

    /// The error to throw; `response` is the last response of the run.
    func error(_ response: Response? = nil) -> ErrandError {
        .interceptionFailed.with(message: description, response: response, underlying: self)
    }
}
