import Synchronization

extension AnyRequest {
    /// Sets the stream for the next run.
    final func attach(_ stream: ResponseStream) {
        core.withLock { $0.madeHooks().stream = stream }
    }

    /// Whether the present transfer still waits for bytes from its body source.
    final var isUploading: Bool { core.withLock { $0.hooks?.run.pump }?.isOpen ?? false }

    /// Gives credit for bytes of a streamed body that were read: that many more bytes may arrive.
    final func grant(_ bytes: Int) {
        guard bytes > 0 else { return }
        let id = core.withLock { core -> TransferID? in
            if let id = core.machine.transferID { return id }
            // The chunk arrived before `submit` returned: see `applyCredit`.
            core.hooks?.run.pendingCredit += bytes
            return nil
        }
        if let id { carrier.grant(id, bytes: bytes) }
    }

    /// Ends the present transfer because the rest of its body is not needed. The run continues with the received part.
    /// Does nothing if the run of `stream` is no longer the present one.
    final func cutTransfer(of stream: ResponseStream) {
        let id = core.withLock { core -> TransferID? in
            guard core.hooks?.run.stream === stream else { return nil }
            if let id = core.machine.transferID { return id }
            // See `applyCredit`.
            core.hooks?.run.isCut = true
            return nil
        }
        if let id { carrier.cancel(id) }
    }

    /// Called when the transfer's id is known: grants the recorded credit, or cancels the transfer if that was
    /// requested.
    final func applyCredit(_ id: TransferID) {
        let (owed, isCut) = core.withLock { core -> (Int, Bool) in
            guard let run = core.hooks?.run else { return (0, false) }
            core.hooks?.run.dropPendingCredit()
            return (run.pendingCredit, run.isCut)
        }
        if owed > 0 { carrier.grant(id, bytes: owed) }
        if isCut { carrier.cancel(id) }
    }

    /// Makes the pump for a body source. Returns whether the body has one.
    final func makePump(for description: RequestDescription, transfer: Int) -> Bool {
        // Most bodies are no source, and should not be copied in this check.
        guard description.body.isSource, case .source(let source) = description.body else { return false }
        let carrier = carrier
        // The former pump has usually finished, but its reader may still be open: see `UploadPump`.
        core.withLock { core in
            core.replacePump(source, carrier, transfer: transfer, failedAttempt: nil).former
        }?.cancel()
        return true
    }

    /// Starts the pump of a transfer that was submitted, unless the next transfer has begun meanwhile.
    final func startPump(_ id: TransferID, transfer: Int) {
        // A retry may have replaced the pump: see `restartPump`.
        guard let pump = core.withLock({ $0.hooks?.run.pump }), pump.transfer == transfer else { return }
        pump.start(id)
    }

    /// The transport resends the request within the transfer: the body is read anew from its first byte.
    final func restartPump(after attempt: Int) {
        let carrier = carrier
        let replaced = core.withLock { core -> (pump: UploadPump, former: UploadPump?, id: TransferID?)? in
            guard let present = core.hooks?.run.pump, case .source(let source)? = core.description?.body else {
                return nil
            }
            let (pump, former) = core.replacePump(
                source, carrier, transfer: present.transfer, failedAttempt: attempt)
            return (pump, former, core.machine.transferID)
        }
        guard let replaced else { return }
        replaced.former?.cancel()
        // Without an id `submit` has not returned yet, and `startPump` follows.
        if let id = replaced.id { replaced.pump.start(id) }
    }

    /// The result of a transfer with everything that judging needs: the head and the body that a stream has received,
    /// and the reason why a body source failed.
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

extension AnyRequest.Core {
    fileprivate mutating func replacePump(
        _ source: any RequestBodySource, _ carrier: any Transport, transfer: Int, failedAttempt: Int?
    ) -> (pump: UploadPump, former: UploadPump?) {
        let hooks = madeHooks()
        let former = hooks.lastPump
        let pump = UploadPump(
            source, transport: carrier, transfer: transfer, after: former, failedAttempt: failedAttempt)
        hooks.lastPump = pump
        hooks.run.pump = pump
        return (pump, former)
    }
}

extension AnyRequest.RunHooks {
    /// Forgets recorded credit and cancellation: they belong to one transfer and not to the next one.
    mutating func dropPendingCredit() {
        pendingCredit = 0
        isCut = false
    }
}

extension RequestDescription {
    /// Makes the response streamed, without limits that the command did not set.
    package mutating func stream() throws(ErrandError) {
        delivery = .streamed
        settings = try settings.unlimited()
    }
}
