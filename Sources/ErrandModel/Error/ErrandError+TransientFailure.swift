extension ErrandError {
    /// The kinds of failures after which the same request may succeed. The raw values are fit for a metric label.
    public enum TransientFailure: String, Sendable, Hashable, CaseIterable {
        /// There was no connection: name look-up, TCP, proxy or TLS handshake failed, or ``Timeouts/connect`` expired.
        /// The server did not see this send of the request. It may have seen an earlier one, before a redirect or a retry;
        /// `retryAdvice` takes this into account.
        case noConnection
        /// The connection broke while the request was sent or the response was received. The server may have acted on
        /// the request.
        case brokenConnection
        /// ``Timeouts/firstByte``, ``Timeouts/idle`` or ``Timeouts/total`` expired. The server may have acted on the
        /// request.
        case timeout
        /// The server's answer was not HTTP.
        case malformedResponse
    }

    /// The kind of a transient failure. `nil`: a retry does not help, because the failure is the caller's, the client's
    /// (``queueFull``, ``timeoutQueue``, ``deadlineExceeded``, ``shutDown``), or the server's deliberate answer.
    public var transientFailure: TransientFailure? {
        switch code {
        case .resolveFailed, .connectFailed, .proxyFailed, .tlsFailed, .timeoutConnect, .outOfDescriptors:
            .noConnection
        case .sendFailed, .connectionLost, .receiveFailed, .partialBody, .protocolError: .brokenConnection
        case .timeoutFirstByte, .timeoutIdle, .timeoutTotal: .timeout
        case .malformedResponse: .malformedResponse
        default: nil
        }
    }

    /// Whether the same request may succeed later; ``transientFailure`` has the kind. Whether the request may be retried
    /// also depends on its method, its body and the policy. `retryAdvice` also covers answers such as 503, and the refusals
    /// of breakers and limits.
    public var isTransient: Bool { transientFailure != nil }

    /// Whether no part of the request was sent, neither by the transfer that failed nor by an earlier one. False if that
    /// is not certain.
    package var isUnsent: Bool {
        guard !followsSends, response == nil else { return false }
        if isRefusal { return true }
        switch code {
        case .resolveFailed, .connectFailed, .proxyFailed, .tlsFailed, .tlsUntrusted, .tlsPinMismatch, .timeoutConnect,
            .timeoutQueue, .outOfDescriptors, .cacheMiss:
            return true
        default: return false
        }
    }
}
