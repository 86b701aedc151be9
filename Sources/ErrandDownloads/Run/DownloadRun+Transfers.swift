import HTTPTypes

extension DownloadRun {
    /// The number of body bytes that are kept of a response that is not content.
    private static var keptBody: Int { 1 << 20 }

    // MARK: To the transport beneath

    /// Returns the next action if the transport does not accept the transfer.
    func send(_ ask: DownloadAsk) -> DownloadStateMachine.Action? {
        do throws(ErrandError) {
            try open(.main(ask.transfer), ask)
            return nil
        } catch {
            return machine.transferFailed(error, isRetryable: false, transfer: ask.transfer, random: 0)
        }
    }

    func open(_ role: DownloadTransfer.Role, _ ask: DownloadAsk) throws(ErrandError) {
        var description = description
        // Ranges refer to the bytes that are written; ranges of an encoded content would refer to encoded bytes.
        if ask.isRanged || !settings.acceptsEncodings || !isDecoding {
            try description.headers.set(.acceptEncoding, to: "identity")
        }
        if let range = ask.range {
            try description.headers.set(.range, to: range)
            if let ifRange = ask.ifRange { try description.headers.set(.ifRange, to: ifRange) }
        }
        // Observers are notified of the first transfer only; later transfers are internal to the download.
        if case .main(1) = role { description.reports = reports.intersection([.events, .connection]) }
        let transfer = DownloadTransfer(role, ask, of: self, on: queue)
        switch role {
        case .main: transfer.isAgain = wasSent
        case .piece(let piece):
            // A further range in addition to the first is no repetition, unless its bytes were requested before.
            transfer.isAgain = sharing?.asksAgain(piece) ?? false
            description.attemptScope = description.attemptScope?.part()
            description.cause = .first
            description.payment = .deposit
        }
        if transfer.isAgain {
            description.cause = .resumption
            description.payment = .charge
            report(.resending(.resumption))
        }
        transfers.append(transfer)
        do throws(ErrandError) {
            transfer.id = try client.transport.submit(description, for: transfer)
        } catch {
            forget(transfer)
            if transfer.isAgain { report(.notResent(.resumption)) }
            throw error
        }
        // The transfer was started again while the download was paused.
        if machine.isPaused { transfer.id.map(client.transport.pause) }
    }

    /// Cancels a transfer and ignores its further events.
    func drop(_ transfer: DownloadTransfer) {
        forget(transfer)
        guard let id = transfer.id else { return }
        // The transport beneath has accepted it.
        wasSent = true
        client.transport.cancel(id)
    }

    private func forget(_ transfer: DownloadTransfer) {
        transfer.isDropped = true
        transfers.removeAll { $0 === transfer }
    }

    /// Drops all transfers and the timer of the next try.
    func dropTransfers() {
        retryTimer?.cancel()
        retryTimer = nil
        for transfer in transfers { drop(transfer) }
        sharing = nil
    }

    /// The transfer wrote `bytes`: grants the same amount of credit, at the rate limit.
    func grant(_ bytes: Int, to transfer: DownloadTransfer) {
        let bytes = pace.wrote(bytes, of: transfer, now: now())
        if bytes > 0, let id = transfer.id { client.transport.grant(id, bytes: bytes) }
        startPaceTimer()
    }

    private func startPaceTimer() {
        guard let time = pace.sleep(now: now()) else { return }
        let clock = client.clock
        pace.slept(
            by: Task { [self] in
                guard (try? await clock.sleep(for: time)) != nil else { return }
                queue.async { self.grantDue() }
            })
    }

    private func grantDue() {
        guard case .running = phase else { return }
        for (transfer, bytes) in pace.due(now: now()) where !transfer.isDropped {
            if let id = transfer.id { client.transport.grant(id, bytes: bytes) }
        }
        startPaceTimer()
    }

    // MARK: From the transport beneath

    func receive(_ event: TransferEvent.Kind, of transfer: DownloadTransfer) {
        switch event {
        case .started, .connected, .sent, .retrying, .resending, .notResent, .decided: report(event)
        case .head(let head): headArrived(head, of: transfer)
        case .chunk(let chunk): chunkArrived(chunk, of: transfer)
        case .ended(let result): ended(result, transfer)
        case .uploadCredit, .progress: break
        }
    }

    private func headArrived(_ response: Response, of transfer: DownloadTransfer) {
        transfer.hasHead = true
        wasSent = true
        let head = DownloadHead(statusCode: response.statusCode, response.headers, isDecoding: isDecoding)
        switch transfer.role {
        case .piece(let piece):
            pieceHeadArrived(head, response, piece, transfer)
        case .main(let number):
            let before = self.head
            self.head = response
            let action = machine.headArrived(head, transfer: number, random: .random(in: 0...1))
            switch action {
            case .fail(let error) where error == .statusNotAccepted:
                passOn(response, transfer)
            case .take, .takeFromZero:
                description.attemptScope?.streamBegan()
                if before == nil, reports.contains(.events) { report(.head(response)) }
                perform(action)
                share(transfer, head, number)
            default:
                // The head was not accepted, so it is not a head of the content.
                self.head = before
                perform(action)
            }
        }
    }

    private func chunkArrived(_ chunk: Response, of transfer: DownloadTransfer) {
        if case .passingOn(_, let head, var body) = phase {
            body += chunk.body.withBytes { [UInt8]($0.prefix(Self.keptBody - body.count)) }
            phase = .passingOn(transfer, head: head, body: body)
            guard body.count < Self.keptBody else { return end(.response(head.assembled(body))) }
            if let id = transfer.id { client.transport.grant(id, bytes: chunk.body.count) }
            return
        }
        switch transfer.role {
        case .piece(let piece):
            pieceChunkArrived(chunk, piece, transfer)
        case .main(let number):
            let count = chunk.body.count
            let action = machine.chunkArrived(count: count, transfer: number)
            guard case .write(let offset) = action else { return perform(action) }
            if write(chunk, count: count, at: offset) { grant(count, to: transfer) }
        }
    }

    /// Returns whether the disk accepted the bytes.
    func write(_ chunk: Response, count: Int, at offset: Int64) -> Bool {
        guard let part else { return false }
        let result = chunk.body.withBytes { bytes in
            Result { () throws(ErrandError) in
                try part.write(UnsafeRawBufferPointer(rebasing: bytes.prefix(count)), at: offset)
            }
        }
        do throws(ErrandError) {
            try result.get()
            reportProgress(isLast: false)
            return true
        } catch {
            perform(machine.gaveUp(error))
            return false
        }
    }

    private func ended(_ result: TransferResult, _ transfer: DownloadTransfer) {
        // A transport that buffers, such as a stub, delivers everything at once.
        if case .response(let response) = result, !transfer.hasHead {
            headArrived(response, of: transfer)
            if !transfer.isDropped, !response.body.isEmpty { chunkArrived(response, of: transfer) }
            if transfer.isDropped { return }
        }
        transfers.removeAll { $0 === transfer }
        transfer.isDropped = true
        noteSend(of: transfer, result)
        if case .passingOn(_, let head, let body) = phase {
            let whole = head.assembled(body, by: result.response)
            switch result {
            case .response: end(.response(whole))
            case .failure(let error): end(.failure(error.with(response: whole)))
            }
            return
        }
        switch (transfer.role, result) {
        case (.piece(let piece), .response(let response)):
            end = response
            pieceEnded(piece, nil)
        case (.piece(let piece), .failure(let error)):
            pieceEnded(piece, error)
        case (.main(let number), .response(let response)):
            end = response
            perform(machine.transferEnded(transfer: number, random: .random(in: 0...1)))
        case (.main(let number), .failure(let error)):
            perform(
                machine.transferFailed(
                    error, isRetryable: isRetryable(error), transfer: number, random: .random(in: 0...1)))
        }
    }

    /// A transfer has ended. It was sent, unless its end is a refusal.
    private func noteSend(of transfer: DownloadTransfer, _ result: TransferResult) {
        guard case .failure(let error) = result, error.isRefusal else {
            wasSent = true
            return
        }
        if transfer.isAgain { report(.notResent(.resumption)) }
    }

    // `malformed`: a server whose TLS or HTTP is wrong will hardly be correct seconds later. `late`: the total time
    // that the caller gave is used up.
    /// Whether a retry of the same request may succeed. If the server was not reached even once, the error is reported
    /// at once, unless the command says otherwise.
    private func isRetryable(_ error: ErrandError) -> Bool {
        switch error.networkFailure {
        case .broken: true
        case .unreached: head != nil || settings.retriesFirstConnection
        case .malformed, .late, nil: false
        }
    }

    /// Passes the response and its body to the request, which judges it: a redirect, a challenge or an error.
    private func passOn(_ head: Response, _ transfer: DownloadTransfer) {
        part?.close()
        part = nil
        for other in transfers where other !== transfer { drop(other) }
        if reports.contains(.events) { report(.head(head)) }
        phase = .passingOn(transfer, head: head, body: [])
    }
}
