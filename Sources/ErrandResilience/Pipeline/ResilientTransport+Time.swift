import HTTPTypes

extension ResilientTransport {
    /// When a transfer must have ended, as a reading of the clock that shows `now`; `nil`: at no time.
    static func deadline(of description: RequestDescription, now: Duration) -> Duration? {
        let total = description.settings.timeouts.total?.duration.map { now + $0 }
        guard let task = Deadline.current else { return total }
        // Other requests may join a shared transfer. The deadline of the request that opened it does not apply to them.
        guard !description.options.contains(.coalesced), description.sendingMoment == nil else { return total }
        let reading = task.reading(of: now)
        return min(total ?? reading, reading)
    }

    /// The description of an attempt, with the time that is left for it; `nil`: that of the call.
    func changedDescription(of call: ResilientCall, now: Duration) throws(ErrandError) -> RequestDescription? {
        if call.deadline == nil, call.rules.retry.attemptTimeout == nil { return nil }
        let (total, isCutShort) = try timeout(of: call, now: now)
        call.note(isCutShort: isCutShort)
        let header = deadlineHeader(for: call.description)
        guard total != call.description.settings.timeouts.total?.duration || header != nil && total != nil else {
            return nil
        }
        var description = call.description
        description.settings = try description.settings.with(total: total, isCutShort: isCutShort)
        if let header, let total {
            guard let field = header.field(remaining: total) else { throw .deadlineExceeded.refused }
            try description.headers.set(field.name, to: field.value)
        }
        return description
    }

    /// The field that tells the server the time; `nil`: none.
    private func deadlineHeader(for description: RequestDescription) -> DeadlineHeader? {
        guard description.hasRareMembers, let replaced = description.replacedResilience else { return deadlineHeader }
        return replaced.deadlineHeader.part(client: deadlineHeader)
    }

    /// The time for an attempt; `nil`: no limit. `isCutShort`: whether this is only the time that the caller has left.
    private func timeout(
        of call: ResilientCall, now: Duration
    ) throws(ErrandError) -> (total: Duration?, isCutShort: Bool) {
        let left = call.deadline.map { $0 - now }
        if let left, left <= .zero { throw .deadlineExceeded.refused }
        guard let most = call.rules.retry.attemptTimeout else {
            return (left.map { min($0, Timeouts.maximum) }, call.isCutShort)
        }
        return (min(most, left ?? most, Timeouts.maximum), call.isCutShort && left ?? most < most)
    }
}
