/// One transfer to an alternative service (RFC 7838): which of its two attempts is under way, and what the end of an attempt
/// leads to.
///
/// The shell submits the attempts, tells the ``AltServiceCache`` of an alternative that failed, and hands events on; the
/// machine says when. The page docs/limits-and-endpoints.md has every event in every state.
package struct AltServiceCallMachine: Sendable {
    package enum State: Sendable, Equatable {
        /// The alternative has the transfer.
        case alternative(Attempt)
        /// The origin has the transfer.
        case origin(Attempt)
        case over
    }

    package struct Attempt: Sendable, Equatable {
        package var control = TransferControl()
        /// Credit that was granted before the id of the attempt was known.
        package var owed = 0
    }

    /// Where an attempt goes.
    package enum Place: Sendable, Hashable, CaseIterable {
        case alternative
        case origin
    }

    /// What the end of an attempt says about the alternative.
    package enum Ending: Sendable, Hashable, CaseIterable {
        /// Nothing bad. The result is that of the transfer.
        case stands
        /// Other transfers should go elsewhere. The result is that of this one, because the request may have been sent.
        case failed
        /// The alternative was not reached, is not the origin's, or says that it is not. The origin can be asked.
        case left
    }

    package enum Action: Sendable, Equatable {
        /// The event came too late, or too early.
        case none
        /// Hand the event to the caller.
        case pass
        /// Grant the attempt this credit. Then carry out the order, and report ``orderPerformed(_:)``.
        case open(TransferID, credit: Int, TransferControl.Order)
        /// Carry out the order, and report ``orderPerformed(_:)``.
        case order(TransferControl.Order)
        /// Grant the attempt this credit.
        case grant(TransferID, bytes: Int)
        /// Leave the alternative out for a time, and submit the transfer to the origin. Report ``attemptOpened(_:at:)`` or
        /// ``attemptRefused(isUnusable:)``.
        case sendToOrigin
        /// The result of the attempt is that of the transfer. `leavesOut`: leave the alternative out for a time.
        case end(leavesOut: Bool)
        /// The refusal of the attempt is the end of the transfer.
        case refuse
    }

    package private(set) var state = State.alternative(Attempt())

    package init() {}

    /// Where the present attempt goes; `nil`: the transfer is over.
    package var place: Place? {
        switch state {
        case .alternative: .alternative
        case .origin: .origin
        case .over: nil
        }
    }

    // MARK: Attempts

    /// `submit` has returned. The attempt may have failed meanwhile, and the next one, with another id, may be on its
    /// way.
    package mutating func attemptOpened(_ id: TransferID, at place: Place) -> Action {
        guard place == self.place else { return .none }
        return change { attempt in
            let order = attempt.control.opened(id)
            guard attempt.owed > 0 else { return .order(order) }
            defer { attempt.owed = 0 }
            return .open(id, credit: attempt.owed, order)
        }
    }

    /// `submit` has thrown. `isUnusable`: the engine cannot use this alternative, so the origin is asked, unless the
    /// transfer is cancelled. Any other refusal says nothing about the alternative.
    package mutating func attemptRefused(isUnusable: Bool) -> Action {
        switch state {
        case .alternative(let attempt) where attempt.control.id == nil:
            if isUnusable, !attempt.control.isCancelled { return leave(attempt) }
        case .origin(let attempt) where attempt.control.id == nil:
            break
        case .alternative, .origin, .over:
            return .none
        }
        state = .over
        return .refuse
    }

    /// The head of a response has arrived. `mayBeLeft`: if the alternative sent this response, the origin is asked
    /// instead.
    package func headReceived(mayBeLeft: Bool) -> Action {
        switch state {
        // The end of the attempt decides. The caller sees nothing of this response.
        case .alternative: mayBeLeft ? .none : .pass
        case .origin: .pass
        case .over: .none
        }
    }

    /// The present attempt has ended.
    package mutating func attemptEnded(_ ending: Ending) -> Action {
        switch (state, ending) {
        case (.alternative(let attempt), .left) where !attempt.control.isCancelled:
            return leave(attempt)
        // A cancelled transfer has no other attempt. The alternative was not reached all the same.
        case (.alternative, .left), (.alternative, .failed):
            state = .over
            return .end(leavesOut: true)
        // The origin's own 421 stands, and so does its failure.
        case (.alternative, .stands), (.origin, .stands), (.origin, .failed), (.origin, .left):
            state = .over
            return .end(leavesOut: false)
        case (.over, .stands), (.over, .failed), (.over, .left):
            return .none
        }
    }

    // MARK: Orders of the caller

    package mutating func cancelRequested() -> Action {
        change { .order($0.control.cancel()) }
    }

    package mutating func pauseRequested() -> Action {
        change { .order($0.control.setPaused(true)) }
    }

    package mutating func resumeRequested() -> Action {
        change { .order($0.control.setPaused(false)) }
    }

    /// An order was carried out. Another thread may have asked for the opposite meanwhile.
    package mutating func orderPerformed(_ order: TransferControl.Order) -> Action {
        change { .order($0.control.performed(order)) }
    }

    /// The caller can take this many more bytes.
    package mutating func creditGranted(_ bytes: Int) -> Action {
        guard bytes > 0 else { return .none }
        return change { attempt in
            if let id = attempt.control.id { return .grant(id, bytes: bytes) }
            let (sum, overflows) = attempt.owed.addingReportingOverflow(bytes)
            attempt.owed = overflows ? .max : sum
            return .none
        }
    }

    // MARK: Changes

    /// The next attempt is paused if the transfer is, and gets the credit that the former one was not given.
    private mutating func leave(_ former: Attempt) -> Action {
        state = .origin(Attempt(control: TransferControl(isPaused: former.control.isPaused), owed: former.owed))
        return .sendToOrigin
    }

    /// Changes the present attempt. `.order(.none)` is nothing to do.
    private mutating func change(_ body: (inout Attempt) -> Action) -> Action {
        let action: Action
        switch state {
        case .alternative(var attempt):
            action = body(&attempt)
            state = .alternative(attempt)
        case .origin(var attempt):
            action = body(&attempt)
            state = .origin(attempt)
        case .over:
            return .none
        }
        return action == .order(.none) ? .none : action
    }
}
