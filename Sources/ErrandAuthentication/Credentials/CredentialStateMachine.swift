/// One credential for many requests, with at most one refresh at a time.
///
/// A generation identifies the credential that a request carried. The number increases with every end of a refresh,
/// failed or not, and with every credential set from outside. This shows a refused request whether there is a newer
/// credential to try, or whether the refresh for its credential has already failed.
///
/// A refresh stays under way until it ends, even after a credential was set from outside (it is then *overtaken*). A
/// refresh that becomes necessary meanwhile is postponed: its waiters wait, and it begins when the overtaken one has
/// ended, if anybody still waits.
struct CredentialStateMachine<Credential: Sendable, Waiter: Sendable>: ~Copyable {
    typealias Generation = UInt64
    typealias Issue = CredentialIssue<Credential>

    enum State {
        /// Can be sent.
        case usable(Credential)
        /// There is no credential, or it must be refreshed before a request is sent; with the error of the last
        /// refresh, if that failed.
        case due(Credential?, ErrandError?)
        /// Removed from outside, as by a logout: nothing is refreshed, and requests that need a credential fail with
        /// this error, until one is set or ``invalidated()`` is called.
        case withdrawn(ErrandError)
        /// The credential that is being refreshed, and the waiters by number.
        case refreshing(Credential?, [UInt64: Waiter])
    }

    /// Why a refresh is necessary.
    struct Occasion: Sendable {
        /// The response that refused the credential; `nil`: it was not sent.
        var response: Response?
        /// The refreshes that the waiting task belongs to.
        var scope: Set<ObjectIdentifier> = []
        /// The attempt scope of the run that waits first. The trace of that run's caller continues in the refresh.
        var attempts: AttemptScope?
    }

    /// A refresh to begin; `flight` identifies it when it ends.
    struct Order: Sendable {
        let flight: Generation
        let credential: Credential?
        let occasion: Occasion
    }

    /// The result for waiters.
    struct Settlement: Sendable {
        let waiters: [Waiter]
        let outcome: Result<Issue, ErrandError>
    }

    enum Action {
        /// The waiter gets its result when the refresh that is under way, or the postponed one, ends.
        case wait
        /// As `wait`, and a refresh has to begin.
        case refresh(Order)
        /// The result is known: nothing to wait for.
        case settle(Settlement)
    }

    private(set) var state: State
    private(set) var generation: Generation = 0
    /// The refresh that has begun and not ended. Its generation differs from the current one if it was overtaken.
    private(set) var underWay: Generation?
    /// The occasion of the postponed refresh.
    private var occasion = Occasion()

    init(_ credential: Credential?) {
        state = credential.map { .usable($0) } ?? .due(nil, nil)
    }

    /// The credential that may be sent at once.
    var issue: Issue? {
        guard case .usable(let credential) = state else { return nil }
        return Issue(credential: credential, generation: generation)
    }

    /// The latest credential, usable or not.
    var credential: Credential? {
        switch state {
        case .usable(let credential): credential
        case .due(let credential, _), .refreshing(let credential, _): credential
        case .withdrawn: nil
        }
    }

    /// The requests that wait for a refresh.
    var waiterCount: Int {
        guard case .refreshing(_, let waiters) = state else { return 0 }
        return waiters.count
    }

    /// A request needs another credential: it had none (`refused` is `nil`), or it had the credential of that
    /// generation, which was refused or is not worth sending.
    mutating func credentialAwaited(
        by number: UInt64, _ waiter: Waiter, refused: Generation?, _ occasion: Occasion = Occasion()
    ) -> Action {
        switch state {
        case .usable(let credential):
            guard refused == generation else {
                // Another request was refused first, and its refresh has already ended.
                let issue = Issue(credential: credential, generation: generation)
                return .settle(Settlement(waiters: [waiter], outcome: .success(issue)))
            }
            return begin(credential, [number: waiter], occasion)
        case .due(let credential, let failure):
            if let failure, let refused, refused < generation {
                // Sent before the refresh failed and refused after: the failure of that refresh applies.
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

    /// A waiter's task was cancelled. The refresh continues, even without waiters. `nil` if the waiter does not
    /// wait, or no longer waits.
    mutating func waiterLeft(_ number: UInt64) -> Waiter? {
        switch state {
        case .usable, .due, .withdrawn:
            // The waiter was resumed just before the cancellation.
            return nil
        case .refreshing(let credential, var waiters):
            letGo()
            let waiter = waiters.removeValue(forKey: number)
            state = .refreshing(credential, waiters)
            return waiter
        }
    }

    /// A refresh has returned or timed out. `nil` if there is nothing to do: there are no waiters, another
    /// credential was set meanwhile, or the refresh returned after its timeout.
    mutating func refreshEnded(_ flight: Generation, _ result: Result<Credential, ErrandError>) -> Action? {
        guard flight == underWay else { return nil }
        underWay = nil
        guard case .refreshing(let former, let waiters) = state else { return nil }
        guard flight == generation else {
            // The refresh was overtaken: the postponed one begins now.
            let delayed = occasion
            occasion = Occasion()
            guard !waiters.isEmpty else {
                // Nobody waits any more: the next request that needs a credential begins a refresh.
                state = .due(former, nil)
                return nil
            }
            return .refresh(order(former, delayed))
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

    /// A credential was set from outside: a login, or a logout (`nil`). With a logout, `failure` is the error for
    /// waiters and later requests. Overtakes a refresh that is under way; its result is then ignored.
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

    /// Called from outside: the credential must not be sent any more, or, after a logout, the next request must get one.
    mutating func invalidated() {
        switch state {
        case .usable(let credential):
            state = .due(credential, nil)
        case .withdrawn:
            state = .due(nil, nil)
        case .due, .refreshing:
            // The current credential is not sent in this state anyway.
            break
        }
    }

    /// Makes a local variable the only owner of the waiters. Otherwise each change would copy all of them, a thousand
    /// perhaps.
    private mutating func letGo() {
        state = .due(nil, nil)
    }

    private func settlement(_ waiters: [UInt64: Waiter], _ outcome: Result<Issue, ErrandError>) -> Settlement? {
        guard !waiters.isEmpty else { return nil }
        // In the order of arrival.
        let sorted = waiters.sorted { $0.key < $1.key }.map(\.value)
        return Settlement(waiters: sorted, outcome: outcome)
    }
}
