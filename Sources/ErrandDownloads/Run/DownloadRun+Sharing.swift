/// Several connections at once.
extension DownloadRun {
    /// The transfer that was just taken becomes one of several, where that is wanted and the server can do it.
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

    /// Begins as many transfers as there may be. Answers what comes of it where none is left.
    func fill() -> DownloadStateMachine.Action? {
        guard sharing != nil, case .running = phase else { return nil }
        while !machine.isPaused, let (piece, ask) = sharing?.next(now: now()) {
            do throws(ErrandError) {
                try open(.piece(piece), ask)
            } catch {
                sharing?.ended(piece, error)
            }
        }
        guard transfers.isEmpty, let sharing, let part, sharing.isComplete || !machine.isPaused else { return nil }
        self.sharing = nil
        let error = sharing.isComplete ? nil : sharing.lastError ?? .partialBody
        return machine.sharingEnded(
            have: part.file.written, hasMoved: sharing.hasMoved, error, isRetryable: error.map(mayGoOn) ?? true,
            random: .random(in: 0...1))
    }

    /// Whether to ask once more over one connection, whose answer then decides.
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
            // Its end comes next, and leaves a connection that can be used again.
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
