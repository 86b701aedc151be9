import Synchronization

/// What the interceptors of one run have done so far, and which of their calls of `next` are under way. Any thread.
///
/// The calls of a run nest: the interceptor that was entered last is the only one that may call `next`. Each call has a
/// number of its own, so that a call by an interceptor that has returned is recognised.
final class InterceptionProgress: Sendable {
    /// What the interceptors wrap.
    enum Kind {
        case request
        /// Stored responses are read, and nothing is sent.
        case lookup
        /// A test calls one interceptor, and replaces its `next`.
        case test
    }

    fileprivate struct Values: Sendable {
        /// Whether the run still needs its interceptors.
        var isOpen = true
        /// The numbers of the calls under way, from the outermost to the innermost.
        var calls: [Int] = []
        var lastCall = 0
        /// The calls of the innermost `next`, sent or not, without those that read only the cache.
        var transfers = 0
        /// The calls that read only the cache.
        var lookups = 0
        /// The transfers that were sent and have ended.
        var sent = 0
        var replays = 0
        /// Whether a transfer has ended since the last replay was counted.
        var isSentOnce = false
        /// Whether the last transfer was not sent.
        var isRefused = false
        /// The `transform` that has failed since the last call of the innermost `next`.
        var failedTransform: FailedTransform?
        var lastURL: String?
        /// The response of the last transfer, whole or partial.
        var response: Response?
    }

    fileprivate struct FailedTransform: Sendable {
        /// The error as the interceptors outside see it.
        let error: ErrandError
        /// The response that the `transform` got.
        let response: Response
    }

    private let values: Mutex<Values>
    private let kind: Kind

    init(replays: Int = 0, kind: Kind = .request) {
        values = Mutex(Values(replays: replays))
        self.kind = kind
    }

    // MARK: What interceptors see

    var isOpen: Bool { values.withLock { $0.isOpen } }

    var replays: Int { values.withLock { $0.replays } }

    var lastURL: String? {
        get { values.withLock { $0.lastURL } }
        set { values.withLock { $0.lastURL = newValue } }
    }

    // MARK: Calls of `next`

    /// A call of `next` by the interceptor that was called by `parent`; 0 is the request. Returns the number of the
    /// call.
    func entered(by parent: Int) throws(ErrandError) -> Int {
        let (number, misuse) = values.withLock { values -> (Int?, InterceptionMisuse?) in
            guard values.isOpen else { return (nil, nil) }
            guard values.calls.last ?? 0 == parent else {
                // An interceptor that has returned is not in the list any more.
                return (nil, parent == 0 || values.calls.contains(parent) ? .concurrentCalls : nil)
            }
            values.lastCall += 1
            values.calls.append(values.lastCall)
            // All interceptors inside count this call as the replay.
            values.countReplay()
            return (values.lastCall, nil)
        }
        if let number { return number }
        throw misuse?.error() ?? .cancelled
    }

    /// The call has ended. Returns whether a call inside it is still under way, which nobody waits for.
    func left(_ number: Int) -> Bool {
        values.withLock { values in
            guard let place = values.calls.lastIndex(of: number) else { return false }
            let isLast = place == values.calls.count - 1
            values.calls.removeSubrange(place...)
            return !isLast
        }
    }

    // MARK: Transfers

    /// The innermost `next` was called. A run may look into the cache although it has used up its transfers, and the
    /// number of such lookups is bounded too.
    func willTransfer(_ request: RequestDescription) throws(ErrandError) {
        let isLookup = request.readsOnlyCache
        // The former failure is released after the lock: its response may refer to a user's decoder.
        var former: FailedTransform?
        let (isAllowed, response) = values.withLock { values in
            if isLookup { values.lookups += 1 } else { values.transfers += 1 }
            swap(&values.failedTransform, &former)
            let count = isLookup ? values.lookups : values.transfers
            return (count <= 1 + InterceptionContext.replayLimit, values.response)
        }
        guard isAllowed else { throw InterceptionMisuse.tooManyTransfers.error(response) }
    }

    /// The transfer of the innermost `next` has ended.
    func transferEnded(_ result: TransferResult, at url: String?) {
        let isRefused = if case .failure(let error) = result { error.isRefusal } else { false }
        // The old response is released after the lock: it may refer to a user's decoder.
        var response = result.response
        values.withLock { values in
            if !isRefused { values.sent += 1 }
            values.isSentOnce = values.isSentOnce || !isRefused
            values.isRefused = isRefused
            if let url { values.lastURL = url }
            swap(&values.response, &response)
        }
    }

    /// Whether a ``StepwiseInterceptor`` may resend the request: not if the last transfer was refused, because another
    /// one would be refused too.
    var maySendAgain: Bool {
        values.withLock { values in
            guard values.isOpen else { return false }
            switch kind {
            case .request:
                return values.sent > 0 && !values.isRefused
                    && max(values.transfers, values.lookups) <= InterceptionContext.replayLimit
            case .lookup: return false
            case .test: return values.replays < InterceptionContext.replayLimit
            }
        }
    }

    /// A ``StepwiseInterceptor`` resends the request: its `prepare` counts this replay already.
    func replayDecided() {
        values.withLock { values in
            // The transfers of a test are not seen here.
            if kind == .test { values.isSentOnce = true }
            values.countReplay()
        }
    }

    /// Whether nothing was sent so far.
    var isUnsent: Bool { values.withLock { $0.sent == 0 } }

    // MARK: Errors

    /// A `transform` threw `error` for `response`. Returns the error as the interceptors outside see it.
    func transformFailed(_ error: any Error, on response: Response) -> ErrandError {
        let seen = failure(error)
        // The former failure is released after the lock: see `willTransfer`.
        var failed: FailedTransform? = FailedTransform(error: seen, response: response)
        values.withLock { swap(&$0.failedTransform, &failed) }
        return seen
    }

    /// The result of `next` for `replays`. If a `transform` inside has failed, this is the response that the `transform`
    /// got instead of its error.
    func withoutFailedTransform(_ result: TransferResult) -> TransferResult {
        guard case .failure(let error) = result, let failed = values.withLock({ $0.failedTransform }),
            failed.error.isSame(as: error)
        else { return result }
        return .response(failed.response)
    }

    /// The interceptors have ended with `error`. If the error of a failed `transform` was caught, that failure is
    /// forgotten.
    func ended(with error: ErrandError) {
        // The failure is released after the lock: see `willTransfer`.
        var caught: FailedTransform?
        values.withLock { values in
            guard let failed = values.failedTransform, !failed.error.isSame(as: error) else { return }
            swap(&values.failedTransform, &caught)
        }
    }

    /// Whether the run ended with the error of a `transform`.
    var isTransformFailed: Bool { values.withLock { $0.failedTransform != nil } }

    /// The error that an interceptor threw, as those around it see it.
    func failure(_ error: any Error) -> ErrandError {
        let response = values.withLock { $0.response }
        guard let error = error as? ErrandError else {
            return .interceptionFailed.with(
                message: "an interceptor failed: \(error)", response: response, underlying: error)
        }
        guard error.response == nil, let response else { return error }
        return error.with(response: response)
    }

    // MARK: The end

    /// The run does not need its interceptors any more: from now on `next` throws ``ErrandError/cancelled``.
    func close() {
        var response: Response?
        values.withLock { values in
            values.isOpen = false
            swap(&values.response, &response)
        }
    }
}

extension InterceptionProgress.Values {
    fileprivate mutating func countReplay() {
        guard isSentOnce else { return }
        isSentOnce = false
        replays += 1
    }
}
