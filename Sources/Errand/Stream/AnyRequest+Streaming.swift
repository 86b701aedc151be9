import Synchronization

extension AnyRequest {
    /// For the next run.
    final func attach(_ stream: ResponseStream) {
        core.withLock { $0.madeHooks().stream = stream }
    }

    /// So many bytes of a streamed body were read; as many more may come.
    final func grant(_ bytes: Int) {
        guard bytes > 0 else { return }
        let id = core.withLock { core -> TransferID? in
            if let id = core.machine.transferID { return id }
            // The chunk overtook the return of `submit`: see `payCredit`.
            core.hooks?.run.owedCredit += bytes
            return nil
        }
        if let id { carrier.grant(id, bytes: bytes) }
    }

    /// The transfer's id is known now: gives it the credit that was owed.
    final func payCredit(_ id: TransferID) {
        let owed = core.withLock { core -> Int in
            guard let run = core.hooks?.run, run.owedCredit > 0 else { return 0 }
            core.hooks?.run.owedCredit = 0
            return run.owedCredit
        }
        if owed > 0 { carrier.grant(id, bytes: owed) }
    }

    /// `nil` where the body needs none.
    final func makePump(for description: RequestDescription) -> UploadPump? {
        guard case .source(let source) = description.body else { return nil }
        let pump = UploadPump(source, transport: carrier)
        let earlier = core.withLock { core in
            let hooks = core.madeHooks()
            let earlier = hooks.run.pump
            hooks.run.pump = pump
            return earlier
        }
        earlier?.cancel()
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

extension RequestDescription {
    /// Has the response streamed: without limits that the command did not ask for.
    mutating func stream() throws(ErrandError) {
        delivery = .streamed
        settings = try settings.unlimited()
    }
}
