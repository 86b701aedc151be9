extension ErrandError {
    /// Whether the server or the network failed. A stale response may be served then.
    var isNetworkFailure: Bool {
        switch code {
        case .timeoutQueue, .timeoutConnect, .timeoutFirstByte, .timeoutIdle, .timeoutTotal, .resolveFailed,
            .connectFailed, .proxyFailed, .tlsFailed, .sendFailed, .connectionLost, .receiveFailed, .partialBody,
            .malformedResponse, .protocolError, .outOfDescriptors:
            true
        default:
            false
        }
    }
}
