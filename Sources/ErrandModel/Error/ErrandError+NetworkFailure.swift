extension ErrandError {
    /// How the network or the server failed a transfer. The same request may succeed later.
    package enum NetworkFailure: Sendable, Hashable {
        /// The server was not reached, or did not begin to answer; or a circuit breaker or a limit refused the request.
        case unreached
        /// The connection broke.
        case broken
        /// The server's answer violated the protocol.
        case malformed
        /// The queue or total timeout expired, or there was no time left.
        case late
    }

    /// `nil`: the failure is the caller's, or the server's answer.
    package var networkFailure: NetworkFailure? {
        switch code {
        case .resolveFailed, .connectFailed, .proxyFailed, .timeoutConnect, .timeoutFirstByte, .outOfDescriptors,
            .circuitOpen, .limitExceeded, .noEndpoint:
            .unreached
        case .sendFailed, .connectionLost, .receiveFailed, .partialBody, .protocolError, .timeoutIdle: .broken
        case .tlsFailed, .malformedResponse: .malformed
        case .timeoutQueue, .timeoutTotal, .deadlineExceeded: .late
        default: nil
        }
    }
}
