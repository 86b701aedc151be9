import HTTPTypes
import Synchronization

/// A transfer to an alternative service: one attempt there, and one at the origin if the first fails before the request
/// was sent, or is answered with 421.
///
/// `@unchecked Sendable`: what this class adds is constant or guarded by its lock.
final class AltServiceCall: AltServiceReceiver, @unchecked Sendable {
    let id: TransferID
    private let description: RequestDescription
    private let service: AltService
    /// The host and port of the alternative.
    private let place: String
    private let beganAt: Duration
    private let transport: AltServiceTransport
    private let machine = Mutex(AltServiceCallMachine())
    /// Whether the alternative has received the request that is now sent to the origin.
    private let wasSent = Atomic<Bool>(false)

    init(
        _ id: TransferID, _ description: RequestDescription, for receiver: TransferReceiver, origin: String,
        _ service: AltService, at place: String, beganAt: Duration, _ cache: AltServiceCache,
        of transport: AltServiceTransport
    ) {
        self.id = id
        self.place = place
        self.description = description
        self.service = service
        self.beganAt = beganAt
        self.transport = transport
        super.init(receiver, origin, cache)
    }

    /// Sends the first attempt. Throws where the transport beneath refuses both.
    func begin(_ altered: RequestDescription) throws(ErrandError) {
        description.tell(self, .alternative(place))
        do throws(ErrandError) {
            opened(try transport.base.submit(altered, for: self), at: .alternative)
        } catch {
            // These errors mean options that the engine cannot use together. A full queue says nothing about the
            // alternative, nor does a signer.
            let isUnusable = !error.isOfSigner && (error == .invalidOption || error == .unsupportedFeature)
            guard case .sendToOrigin = machine.withLock({ $0.attemptRefused(isUnusable: isUnusable) }) else {
                throw error
            }
            try beginAtOrigin()
        }
    }

    private func beginAtOrigin() throws(ErrandError) {
        leaveOut()
        cache.wasLeft()
        description.tell(self, .leftAlternative(place))
        do throws(ErrandError) {
            opened(try transport.base.submit(description, for: self), at: .origin)
        } catch {
            _ = machine.withLock { $0.attemptRefused(isUnusable: false) }
            throw error
        }
    }

    private func opened(_ attempt: TransferID, at place: AltServiceCallMachine.Place) {
        carryOut(machine.withLock { $0.attemptOpened(attempt, at: place) })
    }

    // MARK: Orders of the caller

    func cancel() { carryOut(machine.withLock { $0.cancelRequested() }) }
    func pause() { carryOut(machine.withLock { $0.pauseRequested() }) }
    func resume() { carryOut(machine.withLock { $0.resumeRequested() }) }
    func grant(_ bytes: Int) { carryOut(machine.withLock { $0.creditGranted(bytes) }) }

    private func carryOut(_ first: AltServiceCallMachine.Action) {
        var action = first
        while true {
            switch action {
            case .open(let attempt, let credit, let order):
                if credit > 0 { transport.base.grant(attempt, bytes: credit) }
                action = .order(order)
            case .order(let order):
                transport.base.perform(order)
                action = machine.withLock { $0.orderPerformed(order) }
            case .grant(let attempt, let bytes):
                return transport.base.grant(attempt, bytes: bytes)
            case .none, .pass, .sendToOrigin, .end, .refuse:
                return
            }
        }
    }

    // MARK: The transport beneath reports here, on the receiver's queue

    override func receive(_ event: TransferEvent.Kind) {
        switch event {
        case .head(let response):
            let mayBeLeft = response.statusCode == 421 && isBuffered
            guard case .pass = machine.withLock({ $0.headReceived(mayBeLeft: mayBeLeft) }) else { return }
            super.receive(event)
        case .chunk, .uploadCredit, .started, .connected, .sent, .progress, .retrying, .resending, .notResent,
            .decided:
            super.receive(event)
        case .ended(let result):
            let ending = ending(of: result)
            switch machine.withLock({ $0.attemptEnded(ending) }) {
            case .sendToOrigin: sendToOrigin(after: result)
            case .end(let leavesOut):
                if leavesOut { leaveOut(after: result) }
                end(ofOrigin(result))
            case .none, .pass, .open, .order, .grant, .refuse: break
            }
        }
    }

    private var isBuffered: Bool {
        if case .buffered = description.delivery { true } else { false }
    }

    /// What a result of the alternative says about it.
    private func ending(of result: TransferResult) -> AltServiceCallMachine.Ending {
        // The connection was good, but not what was announced (RFC 7838 2).
        let isOfAnotherProtocol = service.protocolID == "h2" && result.isOfHTTP1
        switch result {
        case .response(let response):
            // RFC 9110 15.5.20. The caller of a streamed response has seen its head.
            if response.statusCode == 421 { return isBuffered ? .left : .failed }
            return isOfAnotherProtocol ? .failed : .stands
        case .failure(let error):
            guard error.response == nil else { return isOfAnotherProtocol ? .failed : .stands }
            if isOfNoConnection(error) {
                // The engine reports this error only before the request is sent. Another transport may report it for an
                // alert that comes after the request was read.
                guard error == .tlsFailed else { return .left }
                return RetrySubject(description, RetryPolicy()).isRepeatable ? .left : .failed
            }
            // Any failure without a response that the alternative may have caused.
            let isCutShort = description.settings.isCutShort
            let isItsOwn =
                error == .tlsCredentials || BreakerOutcome(error: error, isCutShort: isCutShort) == .failure
            return isItsOwn ? .failed : .stands
        }
    }

    /// Whether the alternative was not reached, or is not the origin's.
    private func isOfNoConnection(_ error: ErrandError) -> Bool {
        switch error {
        case .resolveFailed, .connectFailed, .timeoutConnect, .addressRefused, .tlsFailed, .tlsUntrusted,
            .tlsPinMismatch:
            true
        default: false
        }
    }

    /// Leaves the alternative out for a time. `result`: that of its attempt; `nil`: the engine cannot use it.
    private func leaveOut(after result: TransferResult? = nil) {
        // A refusal by the guard of a command says nothing about the alternative for other requests.
        if case .failure(.addressRefused)? = result, !(description.resilience?.choice?.addressFilter.isClient ?? true) {
            return
        }
        cache.markBroken(service, of: origin)
    }

    /// The end of the transfer. If the origin's attempt was refused, nothing was sent to the origin, but maybe to the
    /// alternative.
    private func ofOrigin(_ result: TransferResult) -> TransferResult {
        guard case .failure(let error) = result, error.isRefusal, wasSent.load(ordering: .relaxed) else {
            return result
        }
        super.receive(.notResent(.alternative))
        return .failure(error.with(isRefusal: false, followsSends: true))
    }

    /// Sends the transfer to the origin in the time that is left. `result`: the alternative's result. The request was
    /// sent to the alternative only if this is an answer: the failures of `Ending.left` come before the request, as far as
    /// the transport can tell (see `tlsFailed` in `ending(of:)`).
    private func sendToOrigin(after result: TransferResult) {
        leaveOut(after: result)
        let isFurther = result.response != nil
        do throws(ErrandError) {
            var next = description
            if let total = description.settings.timeouts.total?.duration {
                let left = total - (transport.stopwatch.now() - beganAt)
                guard left > .zero else { throw .timeoutTotal }
                next.settings = try description.settings.with(total: left)
            }
            cache.wasLeft()
            if description.reports.contains(.events) { super.receive(.decided(.leftAlternative(place))) }
            wasSent.store(isFurther, ordering: .relaxed)
            if isFurther { super.receive(.resending(.alternative)) }
            do throws(ErrandError) {
                opened(try transport.base.submit(next, for: self), at: .origin)
            } catch {
                throw error.refused
            }
        } catch {
            guard case .refuse = machine.withLock({ $0.attemptRefused(isUnusable: false) }) else { return }
            end(ofOrigin(.failure(error)))
        }
    }

    private func end(_ result: TransferResult) {
        transport.forget(self)
        super.receive(.ended(result))
    }
}

extension TransferResult {
    fileprivate var isOfHTTP1: Bool { response?.metrics.httpVersion?.hasPrefix("1.") == true }
}
