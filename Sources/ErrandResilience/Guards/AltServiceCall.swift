import HTTPTypes
import Synchronization

/// A transfer to an alternative service: one attempt there, and one at the origin where the first fails before the
/// request was sent, or with 421.
///
/// `@unchecked Sendable`: what this class adds is constant or guarded by its lock.
final class AltServiceCall: AltServiceReceiver, @unchecked Sendable {
    private enum State: Sendable {
        /// The alternative has the transfer.
        case alternative(TransferControl)
        /// The origin has the transfer.
        case origin(TransferControl)
        case over

        var control: TransferControl? {
            get {
                switch self {
                case .alternative(let control), .origin(let control): control
                case .over: nil
                }
            }
            set {
                guard let newValue else { return }
                switch self {
                case .alternative: self = .alternative(newValue)
                case .origin: self = .origin(newValue)
                case .over: break
                }
            }
        }

        var isAlternative: Bool {
            if case .alternative = self { true } else { false }
        }
    }

    private struct Guarded: Sendable {
        var state = State.alternative(TransferControl())
        /// Credit that was granted before the id of the attempt was known.
        var owed = 0
    }

    let id: TransferID
    private let description: RequestDescription
    private let service: AltService
    private let beganAt: Duration
    private let transport: AltServiceTransport
    private let guarded = Mutex(Guarded())

    init(
        _ id: TransferID, _ description: RequestDescription, for receiver: TransferReceiver, origin: String,
        _ service: AltService, beganAt: Duration, of transport: AltServiceTransport
    ) {
        self.id = id
        self.description = description
        self.service = service
        self.beganAt = beganAt
        self.transport = transport
        super.init(receiver, origin, transport.cache)
    }

    /// Sends the first attempt. Throws where the transport beneath refuses both.
    func begin(_ altered: RequestDescription) throws(ErrandError) {
        do throws(ErrandError) {
            opened(try transport.base.submit(altered, for: self), isAlternative: true)
        } catch {
            // Options that the engine cannot use together. A full queue says nothing about the alternative.
            guard error == .invalidOption || error == .unsupportedFeature else { throw error }
            transport.cache.markBroken(service, of: origin)
            guarded.withLock { $0.state = .origin(TransferControl()) }
            opened(try transport.base.submit(description, for: self), isAlternative: false)
        }
    }

    private func opened(_ attempt: TransferID, isAlternative: Bool) {
        let (order, owed) = guarded.withLock { guarded -> (TransferControl.Order, Int) in
            // The attempt may have failed meanwhile, and the next one be on its way.
            guard guarded.state.isAlternative == isAlternative, var control = guarded.state.control else {
                return (.none, 0)
            }
            let order = control.opened(attempt)
            guarded.state.control = control
            defer { guarded.owed = 0 }
            return (order, guarded.owed)
        }
        if owed > 0 { transport.base.grant(attempt, bytes: owed) }
        carryOut(order)
    }

    // MARK: Orders of the caller

    func control(_ body: (inout TransferControl) -> TransferControl.Order) {
        carryOut(
            guarded.withLock { guarded in
                guard var control = guarded.state.control else { return .none }
                defer { guarded.state.control = control }
                return body(&control)
            })
    }

    private func carryOut(_ first: TransferControl.Order) {
        var order = first
        while order != .none {
            transport.base.perform(order)
            order = guarded.withLock { $0.state.control?.performed(order) ?? .none }
        }
    }

    func grant(_ bytes: Int) {
        guard bytes > 0 else { return }
        let attempt = guarded.withLock { guarded -> TransferID? in
            if let attempt = guarded.state.control?.id { return attempt }
            let (sum, overflows) = guarded.owed.addingReportingOverflow(bytes)
            guarded.owed = overflows ? .max : sum
            return nil
        }
        if let attempt { transport.base.grant(attempt, bytes: bytes) }
    }

    // MARK: The transport beneath reports here, on the receiver's queue

    override func receive(_ event: TransferEvent.Kind) {
        let isAlternative = guarded.withLock { $0.state.isAlternative }
        switch event {
        // Where the response is buffered, the origin is asked instead, and the caller sees nothing of this one.
        case .head(let response) where isAlternative && response.statusCode == 421 && isBuffered: return
        case .head, .chunk, .uploadCredit, .started, .sent, .progress, .retrying: super.receive(event)
        case .ended(let result):
            if isAlternative, isUseless(result) {
                transport.cache.markBroken(service, of: origin)
                if shouldLeave(result), sendsToOrigin(result) { return }
            } else if isAlternative, service.protocolID == "h2", result.isOfHTTP1 {
                // The connection was good, but not what was announced (RFC 7838 2).
                transport.cache.markBroken(service, of: origin)
            }
            end(result)
        }
    }

    private var isBuffered: Bool {
        if case .buffered = description.delivery { true } else { false }
    }

    /// Whether the next transfer should go elsewhere: every failure without a response that may be the alternative's.
    private func isUseless(_ result: TransferResult) -> Bool {
        if shouldLeave(result) { return true }
        guard case .failure(let error) = result, error.response == nil else { return false }
        return error == .tlsCredentials || BreakerOutcome(error: error) == .failure
    }

    /// Whether the origin is asked in place of the alternative: that one was not reached, is not the origin's, or says that it is not (RFC 9110
    /// 15.5.20).
    private func shouldLeave(_ result: TransferResult) -> Bool {
        switch result {
        case .response(let response): response.statusCode == 421
        case .failure(let error):
            switch error {
            case .resolveFailed, .connectFailed, .timeoutConnect, .addressRefused, .tlsFailed, .tlsUntrusted,
                .tlsPinMismatch:
                error.response == nil
            default: false
            }
        }
    }

    /// Sends the transfer to the origin in the time that is left, unless it was cancelled.
    private func sendsToOrigin(_ result: TransferResult) -> Bool {
        if case .response = result, !isBuffered { return false }
        // An alert may come after the request was read, and over TLS 1.3 also after the handshake.
        if case .failure(.tlsFailed) = result, !RetrySubject(description, RetryPolicy()).isRepeatable { return false }
        let isWanted = guarded.withLock { guarded in
            guard let control = guarded.state.control, !control.isCancelled else { return false }
            guarded.state = .origin(TransferControl(isPaused: control.isPaused))
            return true
        }
        guard isWanted else { return false }
        do throws(ErrandError) {
            var next = description
            if let total = description.settings.timeouts.total?.duration {
                let left = total - (transport.stopwatch.now() - beganAt)
                guard left > .zero else { throw .timeoutTotal }
                next.settings = try description.settings.with(total: left)
            }
            opened(try transport.base.submit(next, for: self), isAlternative: false)
        } catch {
            end(.failure(error))
        }
        return true
    }

    private func end(_ result: TransferResult) {
        guarded.withLock { $0.state = .over }
        transport.forget(self)
        super.receive(.ended(result))
    }
}

extension TransferResult {
    fileprivate var isOfHTTP1: Bool { response?.metrics.httpVersion?.hasPrefix("1.") == true }
}
