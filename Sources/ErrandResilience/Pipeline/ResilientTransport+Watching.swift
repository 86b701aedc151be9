import Synchronization

/// First attempts without a call.
///
/// A plain request (a buffered response, a body that can be read again, no settings of its own) is submitted to the
/// transport beneath with the caller's receiver, and this transport watches its end. Most requests end there: the
/// breaker gets its vote, and nothing else is left to do. Where a decision is needed, the watcher makes the call that
/// the request would have had, and the call gets the end of its first attempt.
///
/// | event | then |
/// |---|---|
/// | the response of the first attempt stands | vote, pass the end on |
/// | cancelled, or no retries, or the transport stops | vote, pass the end on |
/// | a retry may follow | the call begins; the receiver learns its id and repeats a stop or a pause |
extension ResilientTransport {
    /// Set in the ids of calls, and in no id of a transport with short ids.
    static var callBit: UInt64 { 1 << 62 }

    /// Whether the id is that of the transport beneath.
    func isWatched(_ id: TransferID) -> Bool { id.rawValue & Self.callBit == 0 }

    /// Whether the first attempt of the transfer needs no call. The scope of observed attempts is no reason for a call: the
    /// `AttemptTransport` beneath then has a receiver of its own, which hands its events to the watcher. A description that
    /// reports events is never watched: a submission that is refused then has no events at all, so this thread may end the
    /// watch (``TransferReceiver``).
    func mayWatch(_ description: RequestDescription, for receiver: TransferReceiver) -> Bool {
        guard watchesFirstAttempts, receiver.mayBeWatched, !description.hasRareMembersBesideScope else { return false }
        // The deadline of the task is a part of the request's total time already. A request that the deadline cuts
        // short needs a call, which knows how an attempt votes if its caller's time runs out.
        return description.delivery == .buffered && description.reports == [] && !description.isWritten
            && !description.settings.isCutShort
    }

    func submitWatched(
        _ description: RequestDescription, for receiver: TransferReceiver, now: Duration
    ) throws(ErrandError) -> TransferID {
        let watcher = firstAttempts(of: description, now: now)
        let permit: BreakerMachine.Permit?
        do throws(ErrandError) {
            permit = try self.permit(of: watcher.breaker, now: now)
        } catch {
            throw table.withLock { $0.waiters == nil } ? error : .shutDown
        }
        // Permits are numbered from 1.
        receiver.watchBegins(
            by: watcher, number: permit?.number ?? 0, epoch: permit?.epoch ?? 0, flag: permit?.isCounted ?? false,
            start: now)
        watcher.budget?.pay(description.payment, now: now)
        let id: TransferID
        do throws(ErrandError) {
            // Such a request has no rare members but the scope, and needs no dormant transport.
            id = try beneath.plain.submit(description, for: receiver)
        } catch {
            _ = receiver.watchEnds()
            watcher.budget?.takeBack(description.payment, paid: now)
            if let permit { watcher.breaker?.released(permit, .ignored, now: now) }
            throw error
        }
        parts.attemptSent()
        parts.transferBegan()
        return id
    }

    /// Goes on with a watched transfer whose first attempt has ended. `false`: no further attempt may follow.
    func takesOver(
        _ receiver: TransferReceiver, _ ticket: WatchTicket, _ keyed: KeyedParts, _ result: TransferResult
    ) -> Bool {
        guard rules.retry.maxAttempts > 1, let watched = receiver as? any WatchableReceiver,
            let description = watched.submittedDescription
        else { return false }
        let deadline = description.settings.timeouts.total?.duration.map { ticket.start + $0 }
        let made = table.withLock { table -> ResilientCall? in
            guard table.waiters == nil else { return nil }
            let call = ResilientCall(
                table.nextID, description, for: receiver, keyed, rules, start: ticket.start, deadline: deadline,
                isAdmitted: true, ticket.number == 0 ? nil : ticket.permit, of: self)
            table.calls.add(call)
            return call
        }
        guard let call = made else { return false }
        watched.transferContinues(as: call.id)
        call.receive(.ended(result))
        return true
    }
}
