/// Several simultaneous connections.
extension DownloadRun {
    /// Turns the transfer that was just accepted into one of several, if the command asks for it and the server
    /// supports it.
    func share(_ transfer: DownloadTransfer, _ head: DownloadHead, _ number: Int) {
        guard case .running = phase, settings.width > 1, let part, let length,
            head.statusCode == 206 || head.acceptsRanges == true,
            var sharing = RangeSharing(
                have: part.file.written, validators: validators, length: length, width: settings.width,
                policy: settings.policy),
            let piece = sharing.adopt(transfer.ask, end: head.contentRange?.range?.upperBound, now: now()),
            machine.sharingBegan()
        else { return }
        transfer.role = .piece(piece)
        self.sharing = sharing
        if let action = fill() { perform(action) }
    }

    /// Starts as many transfers as allowed. Returns the next action if no transfer is left.
    func fill() -> DownloadStateMachine.Action? {
        guard sharing != nil, case .running = phase else { return nil }
        while !machine.isPaused, let (piece, ask) = sharing?.next(now: now()) {
            do throws(ErrandError) {
                try open(.piece(piece), ask)
            } catch {
                sharing?.ended(piece, error, wasSent: false)
            }
        }
        guard transfers.isEmpty, let sharing, let part, sharing.isComplete || !machine.isPaused else { return nil }
        self.sharing = nil
        let error = sharing.isComplete ? nil : sharing.lastError ?? .partialBody
        return machine.sharingEnded(
            have: part.file.written, hasMoved: sharing.hasMoved, error, isRetryable: error.map(mayGoOn) ?? true,
            random: .random(in: 0...1))
    }

    // This covers more errors than `isRetryable`: an error may come from the ranges themselves, which some servers do
    // not serve well. Only errors that one connection would get, too, are excluded.
    /// Whether to try once more over one connection, whose response then decides.
    private func mayGoOn(_ error: ErrandError) -> Bool {
        switch error {
        case .cancelled, .shutDown, .forked, .outOfMemory, .queueFull: false
        default: true
        }
    }

    func pieceHeadArrived(_ head: DownloadHead, _ response: Response, _ piece: Int, _ transfer: DownloadTransfer) {
        guard let verdict = sharing?.headArrived(head, piece: piece) else { return }
        switch verdict {
        case .take:
            self.head = response
        case .restart, .takeFromZero, .complete:
            perform(machine.sharingContradicted())
        case .retry(_, let error), .fail(let error):
            drop(transfer)
            pieceEnded(piece, error)
        }
    }

    func pieceChunkArrived(_ chunk: Response, _ piece: Int, _ transfer: DownloadTransfer) {
        guard let move = sharing?.chunkArrived(piece, count: chunk.body.count) else { return }
        switch move {
        case .write(let count, let offset):
            if write(chunk, count: count, at: offset) { grant(chunk.body.count, to: transfer) }
        case .complete(let count, let offset, let isSpent):
            guard write(chunk, count: count, at: offset) else { return }
            // The transfer ends next by itself, which leaves a reusable connection.
            if isSpent, count == chunk.body.count { return grant(count, to: transfer) }
            drop(transfer)
            pieceEnded(piece, nil)
        case .drop:
            drop(transfer)
            pieceEnded(piece, nil)
        }
    }

    func pieceEnded(_ piece: Int, _ error: ErrandError?) {
        sharing?.ended(piece, error)
        if let action = fill() { perform(action) }
    }
}
