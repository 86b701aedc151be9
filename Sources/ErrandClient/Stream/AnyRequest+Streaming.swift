import Synchronization

extension AnyRequest {
    /// For the next run.
    final func attach(_ stream: ResponseStream) {
        core.withLock { $0.madeHooks().stream = stream }
    }

    /// Whether the present transfer waits for more of its body's source.
    final var isUploading: Bool { core.withLock { $0.hooks?.run.pump }?.isOpen ?? false }

    /// So many bytes of a streamed body were read; as many more may come.
    final func grant(_ bytes: Int) {
        guard bytes > 0 else { return }
        let id = core.withLock { core -> TransferID? in
            if let id = core.machine.transferID { return id }
            // The chunk overtook the return of `submit`: see `payDebts`.
            core.hooks?.run.owedCredit += bytes
            return nil
        }
        if let id { carrier.grant(id, bytes: bytes) }
    }

    /// What is left of the present transfer is not wanted; the run goes on with what came. Only while it may still be the
    /// present one, as far as `stream` knows, whose run it is.
    final func cutTransfer(of stream: ResponseStream) {
        let id = core.withLock { core -> TransferID? in
            guard core.hooks?.run.stream === stream else { return nil }
            if let id = core.machine.transferID { return id }
            // See `payDebts`.
            core.hooks?.run.isCut = true
            return nil
        }
        if let id { carrier.cancel(id) }
    }

    /// The transfer's id is known now: gives it the credit that was owed, or ends it where that was asked for.
    final func payDebts(_ id: TransferID) {
        let (owed, isCut) = core.withLock { core -> (Int, Bool) in
            guard let run = core.hooks?.run else { return (0, false) }
            core.hooks?.run.forgetDebts()
            return (run.owedCredit, run.isCut)
        }
        if owed > 0 { carrier.grant(id, bytes: owed) }
        if isCut { carrier.cancel(id) }
    }

    /// `nil` where the body needs none.
    final func makePump(for description: RequestDescription) -> UploadPump? {
        guard case .source(let source) = description.body else { return nil }
        let carrier = carrier
        let (pump, former) = core.withLock { core in
            let hooks = core.madeHooks()
            let former = hooks.lastPump
            let pump = UploadPump(source, transport: carrier, after: former)
            hooks.lastPump = pump
            hooks.run.pump = pump
            return (pump, former)
        }
        // As a rule it is over. A reader of its may not be: see `UploadPump`.
        former?.cancel()
        return pump
    }

    /// What a transfer ended with, as those see it who judge it: with the head and the body that a stream has had, and
    /// with the reason why a body's source failed.
    final func completed(_ result: TransferResult) -> TransferResult {
        let (stream, pump) = core.withLock { core -> (ResponseStream?, UploadPump?) in
            guard let hooks = core.hooks else { return (nil, nil) }
            return (hooks.run.stream, hooks.run.pump.take())
        }
        var result = result
        if let stream { result = stream.whole(result) }
        guard let pump else { return result }
        pump.cancel()
        guard case .failure(.uploadFailed) = result, case .failure(let error) = result, let reason = pump.failure else {
            return result
        }
        if let reason = reason as? ErrandError { return .failure(reason.with(response: error.response)) }
        return .failure(error.with(message: "the body's source failed: \(reason)", underlying: reason))
    }
}

extension AnyRequest.RunHooks {
    /// What is owed to one transfer is not the next one's.
    mutating func forgetDebts() {
        owedCredit = 0
        isCut = false
    }
}

extension RequestDescription {
    /// Has the response streamed: without limits that the command did not ask for.
    package mutating func stream() throws(ErrandError) {
        delivery = .streamed
        settings = try settings.unlimited()
    }
}
