/// One credential for many requests, and at most one refresh of it at a time.
///
/// Generations tell requests apart by what they carried: the number grows with every end of a refresh, a failed one
/// included, and with every credential set from outside. So a request that was refused knows whether there is a newer
/// credential to be tried, or whether the refresh that would have saved it has failed already.
///
/// A refresh that is overtaken by a credential set from outside is under way all the same until it ends. One that is
/// needed before that is put off: its waiters wait, and it begins when the other has ended.
struct CredentialStateMachine<Credential: Sendable, Waiter: Sendable>: ~Copyable {
    typealias Generation = UInt64
    typealias Issue = CredentialIssue<Credential>

    enum State {
        /// Fit to be sent.
        case usable(Credential)
        /// There is none, or one that must be refreshed before anything is sent; with the error of the refresh that
        /// failed, where one did.
        case due(Credential?, ErrandError?)
        /// It was taken away from outside, as by a logout: nothing is refreshed, and whoever needs one fails with this, until one
        /// is set or asked for.
        case withdrawn(ErrandError)
        /// Beside the credential that is being refreshed: who waits, by number.
        case refreshing(Credential?, [UInt64: Waiter])
    }

    /// What makes a refresh necessary.
    struct Occasion: Sendable {
        /// What refused the credential; `nil`: it was not sent.
        var response: Response?
        /// The refreshes that whoever asks belongs to.
        var scope: Set<ObjectIdentifier> = []
    }

    /// A refresh to begin; `flight` names it when it ends.
    struct Order: Sendable {
        let flight: Generation
        let credential: Credential?
        let occasion: Occasion
    }

    /// What waiters are told.
    struct Settlement: Sendable {
        let waiters: [Waiter]
        let outcome: Result<Issue, ErrandError>
    }

    enum Action {
        /// The waiter is told when the refresh under way ends, or the one that is put off.
        case wait
        /// The same, and a refresh is to be begun.
        case refresh(Order)
        /// Nothing to wait for.
        case settle(Settlement)
    }

    private(set) var state: State
    private(set) var generation: Generation = 0
    /// The refresh that was begun and has not ended; of another generation than the present one where it was overtaken.
    private(set) var underWay: Generation?
    /// Of the refresh that is put off.
    private var occasion = Occasion()

    init(_ credential: Credential?) {
        state = credential.map { .usable($0) } ?? .due(nil, nil)
    }

    /// What may be sent at once.
    var issue: Issue? {
        guard case .usable(let credential) = state else { return nil }
        return Issue(credential: credential, generation: generation)
    }

    /// The latest there is, fit to be sent or not.
    var credential: Credential? {
        switch state {
        case .usable(let credential): credential
        case .due(let credential, _), .refreshing(let credential, _): credential
        case .withdrawn: nil
        }
    }

    /// Somebody cannot go on with what was there: with nothing (`refused` is `nil`), or with a credential of that
    /// generation, which was refused or is not worth being sent.
    mutating func credentialAwaited(
        by number: UInt64, _ waiter: Waiter, refused: Generation?, _ occasion: Occasion = Occasion()
    ) -> Action {
        switch state {
        case .usable(let credential):
            guard refused == generation else {
                // Another request was refused first, and its refresh has ended already.
                let issue = Issue(credential: credential, generation: generation)
                return .settle(Settlement(waiters: [waiter], outcome: .success(issue)))
            }
            return begin(credential, [number: waiter], occasion)
        case .due(let credential, let failure):
            if let failure, let refused, refused < generation {
                // Sent before the refresh failed, refused after: its fate was decided by that refresh.
                return .settle(Settlement(waiters: [waiter], outcome: .failure(failure)))
            }
            return begin(credential, [number: waiter], occasion)
        case .withdrawn(let failure):
            return .settle(Settlement(waiters: [waiter], outcome: .failure(failure)))
        case .refreshing(let credential, var waiters):
            letGo()
            waiters[number] = waiter
            state = .refreshing(credential, waiters)
            return .wait
        }
    }

    private mutating func begin(
        _ credential: Credential?, _ waiters: [UInt64: Waiter], _ occasion: Occasion
    ) -> Action {
        state = .refreshing(credential, waiters)
        guard underWay == nil else {
            self.occasion = occasion
            return .wait
        }
        return .refresh(order(credential, occasion))
    }

    private mutating func order(_ credential: Credential?, _ occasion: Occasion) -> Order {
        underWay = generation
        return Order(flight: generation, credential: credential, occasion: occasion)
    }

    /// A waiter's task was cancelled. The refresh goes on, even for nobody. `nil` where it does not wait (any more).
    mutating func waiterLeft(_ number: UInt64) -> Waiter? {
        switch state {
        case .usable, .due, .withdrawn:
            // It was told just before it was cancelled.
            return nil
        case .refreshing(let credential, var waiters):
            letGo()
            let waiter = waiters.removeValue(forKey: number)
            state = .refreshing(credential, waiters)
            return waiter
        }
    }

    /// A refresh has returned, or its time is up. `nil` where nothing is to be done: nobody waits, another credential
    /// was set in the meantime, or it returned after its time.
    mutating func refreshEnded(_ flight: Generation, _ result: Result<Credential, ErrandError>) -> Action? {
        guard flight == underWay else { return nil }
        underWay = nil
        guard case .refreshing(let former, let waiters) = state else { return nil }
        guard flight == generation else {
            // It was overtaken, and makes way for the one that was put off.
            let putOff = occasion
            occasion = Occasion()
            return .refresh(order(former, putOff))
        }
        generation += 1
        switch result {
        case .success(let credential):
            state = .usable(credential)
            return settlement(waiters, .success(Issue(credential: credential, generation: generation)))
                .map { Action.settle($0) }
        case .failure(let error):
            state = .due(former, error)
            return settlement(waiters, .failure(error)).map { Action.settle($0) }
        }
    }

    /// From outside: a login, or a logout (`nil`), whose `failure` is that of whoever waits and whoever comes later. It wins
    /// over a refresh under way, whose end is then ignored.
    mutating func credentialSet(_ credential: Credential?, otherwise failure: ErrandError) -> Settlement? {
        var waiting: [UInt64: Waiter] = [:]
        if case .refreshing(_, let waiters) = state { waiting = waiters }
        occasion = Occasion()
        generation += 1
        guard let credential else {
            state = .withdrawn(failure)
            return settlement(waiting, .failure(failure))
        }
        state = .usable(credential)
        return settlement(waiting, .success(Issue(credential: credential, generation: generation)))
    }

    /// From outside: the credential must not be sent any more, or one is wanted after a logout.
    mutating func invalidated() {
        switch state {
        case .usable(let credential):
            state = .due(credential, nil)
        case .withdrawn:
            state = .due(nil, nil)
        case .due, .refreshing:
            // It is not sent any more as it is.
            break
        }
    }

    /// Makes a local variable the only owner of the waiters: otherwise each change of a thousand would copy them all.
    private mutating func letGo() {
        state = .due(nil, nil)
    }

    private func settlement(_ waiters: [UInt64: Waiter], _ outcome: Result<Issue, ErrandError>) -> Settlement? {
        guard !waiters.isEmpty else { return nil }
        // Who came first goes first.
        let sorted = waiters.sorted { $0.key < $1.key }.map(\.value)
        return Settlement(waiters: sorted, outcome: outcome)
    }
}
