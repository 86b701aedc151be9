package import Errand

/// How a request ended, as the ledger counts it.
package struct LoadOutcome: Sendable {
    package enum Ending: Sendable {
        /// A complete response came that is no error.
        case answered(status: Int)
        /// A complete response came that the command does not accept, or whose status counts as an error.
        case rejected(status: Int, LoadError)
        /// No complete response came.
        case failed(LoadError)
        case timedOut(LoadError)
        /// The request was cancelled, or the client was shut down.
        case cancelled(LoadError)
        /// The engine's queue was full, so nothing was sent.
        case refused
    }

    package var ending: Ending
    /// The times of the last transfer; `nil`: there was none.
    package var transfer: TransferSummary?
    /// Attempts on the wire.
    package var attempts: UInt64 = 1
    /// The bytes of all transfers, as far as they are known.
    package var traffic = LoadTraffic()
    /// The text of a failure.
    package var text: String?
    /// The process had no descriptor left.
    package var lacksDescriptor = false

    package init(_ ending: Ending) {
        self.ending = ending
    }

    /// A complete response that was accepted.
    init(_ response: Response) {
        self.init(.answered(status: response.statusCode))
        count(response)
    }

    /// The end of a request, in its last callback.
    init<C: Command>(_ request: Request<C>) {
        if let error = request.error {
            self.init(error)
        } else if let response = request.response {
            self.init(response)
        } else {
            // A command without a response of its own, such as a group.
            self.init(.answered(status: 0))
        }
        if request.isFromCache {
            attempts = 0
        } else if attempts > 0 {
            let resends = request.resends
            guard !resends.isEmpty else { return }
            attempts += UInt64(resends.count)
            traffic = LoadTraffic(request.attempts, resends)
        }
    }

    init(_ error: ErrandError) {
        let metrics = error.metrics
        let reason = LoadError(kind: error.shortDescription, phase: LoadError.Phase(of: error, metrics))
        if reason.phase == .check, let response = error.response {
            self.init(.rejected(status: response.statusCode, reason))
            count(response)
        } else if error == .queueFull {
            self.init(.refused)
        } else if error == .cancelled || error == .shutDown {
            self.init(.cancelled(reason))
        } else {
            self.init(error.isTimeout ? .timedOut(reason) : .failed(reason))
            transfer = metrics.flatMap { TransferSummary($0) }
            traffic = LoadTraffic(transfer, error.response)
        }
        if reason.phase == .queue { attempts = 0 }
        text = "\(error)"
        // EMFILE of a socket, or of a file that is uploaded.
        lacksDescriptor = error == .outOfDescriptors || error.systemErrorCode == 24
    }

    private mutating func count(_ response: Response) {
        transfer = response.transferSummary
        traffic = LoadTraffic(transfer, response)
    }
}

extension LoadTraffic {
    /// The bytes of a transfer. `response`: whole, partial, or `nil`.
    fileprivate init(_ transfer: TransferSummary?, _ response: Response?) {
        self.init()
        headBytesSent = transfer?.headBytesSent ?? 0
        bodyBytesSent = transfer?.bytesSent ?? 0
        bodyBytesReceived = transfer?.bytesReceived ?? response?.bytesReceived ?? 0
        headBytesReceived = transfer?.headBytesReceived ?? 0
        // A transport other than the engine does not count heads.
        if headBytesReceived == 0, let response { headBytesReceived = UInt64(response.headSize) + 2 }
    }

    /// The bytes of all transfers of a request. The request knows the transfers that ended in redirects and replays. Of
    /// retries and hedges it knows only the last one. Each other one counts as many sent bytes as that one, and its
    /// response, which is not known, does not count.
    fileprivate init(_ attempts: [Attempt], _ resends: [Resend]) {
        self.init()
        var last = LoadTraffic()
        for attempt in attempts {
            let transfer = attempt.response?.transferSummary ?? attempt.error?.metrics.flatMap { TransferSummary($0) }
            last = LoadTraffic(transfer, attempt.response)
            self += last
        }
        let unknown = resends.count { resend in
            switch resend {
            case .body, .alternative, .resumption, .revalidation, .hedge, .retry: true
            // libcurl's own sends are part of a transfer.
            case .redirect, .authentication, .replay, .connection: false
            }
        }
        headBytesSent += last.headBytesSent * UInt64(unknown)
        bodyBytesSent += last.bodyBytesSent * UInt64(unknown)
    }
}

extension LoadError.Phase {
    /// How far a request that failed with this error had come.
    init(of error: ErrandError, _ metrics: TransferMetrics?) {
        switch error {
        case .statusNotAccepted, .contentTypeNotAccepted, .responseDecodingFailed, .shapeMismatch, .validationFailed,
            .tooManyRedirects, .redirectRefused:
            self = .check
            return
        case .resolveFailed:
            self = .resolve
            return
        case .connectFailed, .proxyFailed, .addressRefused:
            self = .connect
            return
        case .tlsFailed, .tlsUntrusted, .tlsPinMismatch, .tlsCredentials:
            self = .tls
            return
        default: break
        }
        guard let metrics, !error.isRefusal, metrics.total > .zero else {
            self = .queue
            return
        }
        // libcurl notes the time of the first byte also where the connection ends without one.
        if metrics.firstByte != nil, error.response != nil || metrics.bytesReceived > 0 {
            self = .body
        } else if metrics.firstByte != nil || metrics.sent != nil || metrics.isConnectionReused {
            self = .firstByte
        } else if metrics.connected != nil {
            self = .tls
        } else if metrics.resolved != nil {
            self = .connect
        } else {
            self = .resolve
        }
    }
}
