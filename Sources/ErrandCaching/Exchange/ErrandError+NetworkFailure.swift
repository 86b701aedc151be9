extension ErrandError {
    /// Whether the server, or the way to it, is to blame: what is stored may stand in then.
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
