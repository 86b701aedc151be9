import Synchronization

/// Sends a credential with every request and refreshes the credential when it is refused or expires. One refresh serves
/// all requests that need it; they are resent with the new credential.
///
/// ```swift
/// let authentication = AuthenticationInterceptor(TokenAuthenticator(client: authClient), credential: savedToken)
/// var configuration = Client.Configuration(baseURL: base)
/// configuration.interceptors = [authentication]
/// let client = Client(configuration: configuration)
/// ```
///
/// - A thousand responses of status 401 cause one refresh. Requests that were refused with an older credential than the
///   current one are resent with the current one, without a refresh.
/// - A failed refresh fails all requests that wait for it with ``ErrandError/authenticationFailed`` and the reason as
///   its underlying error. It also fails requests that were sent with the same credential and refused later. The next
///   request starts a new refresh.
/// - A request that is refused with a fresh credential is not resent: it ends with that response. The same applies to a
///   response from another origin, reached by a redirect, because the credential was not sent there.
/// - The credential goes to the client's origins, like ``Client/Settings/authorization``, and to the origins given to
///   this interceptor (``CredentialOrigins``). A command with an absolute URL on another origin is sent without it.
/// - A request that is stopped while it waits ends at once. The refresh continues, in a task of its own, for the other
///   requests.
///
/// One interceptor holds one credential: share it between the clients and commands that use that credential. Any
/// thread. (YTKNetwork has no counterpart: there each failed request renews the token by itself.)
public final class AuthenticationInterceptor<A: Authenticator>: StepwiseInterceptor, AuthenticatingInterceptor {
    typealias Issue = CredentialIssue<A.Credential>
    typealias Waiter = CheckedContinuation<Issue, any Error>
    typealias Machine = CredentialStateMachine<A.Credential, Waiter>

    private let authenticator: A
    private let origins: CredentialOrigins.Matcher
    private let refreshTimeout: Duration
    private let clock: any Clock<Duration>
    private let guarded: Mutex<Guarded>
    private let lastWaiter = Atomic<UInt64>(0)

    private struct Guarded: ~Copyable {
        var machine: Machine
        /// The running refresh, unless a new credential was set since it began.
        var refresh: Task<Void, Never>?
    }

    /// `credential`: the first credential; with `nil`, the default, the first request causes a refresh.
    /// `refreshTimeout`: after this time a refresh fails with ``ErrandError/timeoutTotal`` as the underlying error, and
    /// its task is cancelled. The default of 60 seconds is more than a token service needs, and prevents a hung service
    /// from blocking all requests forever. `origins`: where the credential may be sent; the default is the client's
    /// origins.
    public init(
        _ authenticator: A, credential: A.Credential? = nil, origins: CredentialOrigins = .client,
        refreshTimeout: Duration = .seconds(60), clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.authenticator = authenticator
        self.origins = origins.matcher()
        self.refreshTimeout = refreshTimeout
        self.clock = clock
        guarded = Mutex(Guarded(machine: Machine(credential), refresh: nil))
    }

    /// The latest credential, usable or not; `nil` before the first one and after a logout.
    ///
    /// Set it after a login: waiting requests are sent with the new credential, and the result of a running refresh is
    /// ignored. That refresh is cancelled, unless the refresh itself sets the credential, in its own task or in one
    /// that it created (not in a closure on a callback queue: there, return the credential instead). Set it to `nil` to
    /// log out: waiting requests and all later ones fail with ``ErrandError/authenticationFailed`` before they are
    /// sent. This lasts until a credential is set, or until ``invalidate()`` makes the next request start a refresh
    /// without a credential.
    public var credential: A.Credential? {
        get { guarded.withLock { $0.machine.credential } }
        set {
            let withdrawn = ErrandError.authenticationFailed.with(message: "the credential was removed")
            let (settlement, overtaken) = guarded.withLock { guarded in
                (guarded.machine.credentialSet(newValue, otherwise: withdrawn), guarded.refresh.take())
            }
            if let settlement { settle(settlement) }
            // This is usually a refresh that was refused for good and logs out: it still has to return its own error.
            if RefreshScope.current.contains(ObjectIdentifier(self)) { return }
            overtaken?.cancel()
        }
    }

    /// Makes the next request refresh the credential before it is sent, even after a logout. Does not affect running
    /// requests.
    public func invalidate() {
        guarded.withLock { $0.machine.invalidated() }
    }

    /// The requests that wait for a credential.
    var waiterCount: Int { guarded.withLock { $0.machine.waiterCount } }

    /// Whether a refresh has begun that has neither ended nor exceeded its timeout.
    var isRefreshing: Bool { guarded.withLock { $0.machine.underWay != nil } }

    // MARK: StepwiseInterceptor

    /// Applies the credential, after a refresh if necessary.
    public func prepare(
        _ request: RequestDescription, in context: InterceptionContext
    ) async throws -> RequestDescription {
        let former = context.storage.credentialUse(of: self)
        // A run's interceptors share a task that has the task-local values of the request's caller. A run after a stored
        // response has another task.
        if case .bypassed = former { return request }
        guard !RefreshScope.current.contains(ObjectIdentifier(self)) else {
            context.storage.setCredentialUse(of: self, .bypassed)
            return request
        }
        guard try origins.contains(request.url, in: context), authenticator.applies(to: request) else {
            context.storage.setCredentialUse(of: self, nil)
            return request
        }
        let present = guarded.withLock { $0.machine.issue }
        var isRenewed = if case .sent(let sent) = former { sent.isRenewed } else { false }
        let issue: Issue
        if let present, authenticator.isUsable(present.credential) {
            issue = present
        } else {
            issue = try await renewed(instead: present?.generation, after: nil)
            isRenewed = true
        }
        var request = request
        let origin = URLReference(request.url).origin
        try authenticator.apply(issue.credential, to: &request)
        context.storage.setCredentialUse(
            of: self, .sent(.init(generation: issue.generation, isRenewed: isRenewed, origin: origin)))
        return request
    }

    /// Returns true if the credential was refused and a newer one exists, after a refresh if necessary.
    public func replays(after result: TransferResult, in context: InterceptionContext) async throws -> Bool {
        guard case .response(let response) = result, case .sent(var sent) = context.storage.credentialUse(of: self),
            context.isResult(from: sent.origin), authenticator.refuses(response)
        else { return false }
        let isOutdated = guarded.withLock { $0.machine.issue }.map { $0.generation > sent.generation } ?? false
        if !isOutdated {
            guard !sent.isRenewed else { return false }
            _ = try await renewed(instead: sent.generation, after: response)
        }
        sent.isRenewed = true
        context.storage.setCredentialUse(of: self, .sent(sent))
        return true
    }

    // MARK: The refresh

    /// Waits for a credential other than that of generation `refused`. Ends when the task is cancelled.
    private func renewed(instead refused: UInt64?, after response: Response?) async throws -> Issue {
        try Task.checkCancellation()
        let number = lastWaiter.add(1, ordering: .relaxed).newValue
        let occasion = Machine.Occasion(
            response: response, scope: RefreshScope.current, attempts: AttemptScope.current)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                perform(
                    guarded.withLock { guarded in
                        guarded.machine.credentialAwaited(by: number, waiter, refused: refused, occasion)
                    })
                // If the task was cancelled earlier, its handler was called before the waiter was registered.
                if Task.isCancelled { leave(number) }
            }
        } onCancel: {
            leave(number)
        }
    }

    private func leave(_ number: UInt64) {
        guarded.withLock { $0.machine.waiterLeft(number) }?.resume(throwing: CancellationError())
    }

    private func perform(_ action: Machine.Action) {
        switch action {
        case .wait: break
        case .refresh(let order): begin(order)
        case .settle(let settlement): settle(settlement)
        }
    }

    private func begin(_ order: Machine.Order) {
        let begun = guarded.withLock { guarded -> Task<Void, Never>? in
            guard guarded.machine.generation == order.flight else { return nil }
            // Under the lock, so that a setter of `credential` finds the task that it has to cancel.
            // Detached: several requests wait for the refresh, and the deadline of the task that began it is not theirs.
            let refresh = Task.detached { [self] in
                end(order, await refreshed(order))
            }
            guarded.refresh = refresh
            return refresh
        }
        // A new credential was set before the refresh began.
        guard let refresh = begun else { return end(order, .failure(.cancelled)) }
        let timer = Task { [self] in
            guard (try? await clock.sleep(for: min(refreshTimeout, Duration.longestSleep))) != nil else { return }
            let late = ErrandError.timeoutTotal.with(
                message: "the credential refresh exceeded its timeout of \(refreshTimeout)")
            end(order, .failure(.noCredential(late)))
            refresh.cancel()
        }
        Task {
            await refresh.value
            timer.cancel()
        }
    }

    private func refreshed(_ order: Machine.Order) async -> Result<A.Credential, ErrandError> {
        // A detached task has no task-locals: the trace of the request that waits first is continued explicitly.
        guard let attempts = order.occasion.attempts else { return await refreshedInScope(order) }
        return await attempts.carry { [self] in await refreshedInScope(order) }
    }

    private func refreshedInScope(_ order: Machine.Order) async -> Result<A.Credential, ErrandError> {
        do {
            // The scope of the order, not the current one: a postponed refresh is started by the task of the preceding
            // refresh.
            let scope = order.occasion.scope.union([ObjectIdentifier(self)])
            return .success(
                try await RefreshScope.$current.withValue(scope) {
                    try await authenticator.refresh(order.credential, after: order.occasion.response)
                })
        } catch {
            return .failure(.noCredential(error))
        }
    }

    private func end(_ order: Machine.Order, _ result: Result<A.Credential, ErrandError>) {
        let action = guarded.withLock { guarded -> Machine.Action? in
            let action = guarded.machine.refreshEnded(order.flight, result)
            if guarded.machine.underWay == nil { guarded.refresh = nil }
            return action
        }
        if let action { perform(action) }
    }

    private func settle(_ settlement: Machine.Settlement) {
        for waiter in settlement.waiters { waiter.resume(with: settlement.outcome) }
    }

    /// No change.
    public func transform(_ response: Response, in context: InterceptionContext) -> Response { response }
}
