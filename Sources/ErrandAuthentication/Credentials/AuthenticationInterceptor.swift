import Synchronization

/// Sends a credential with every request, and gets a new one when it is refused or runs out: once, however many requests
/// need it, which are then sent again.
///
/// ```swift
/// let authentication = AuthenticationInterceptor(TokenAuthenticator(client: authClient), credential: savedToken)
/// var configuration = Client.Configuration(baseURL: base)
/// configuration.interceptors = [authentication]
/// let client = Client(configuration: configuration)
/// ```
///
/// - A thousand responses of status 401 cause one refresh. Requests that were refused with an older credential than the
///   present one are sent again with that, without a refresh.
/// - A failed refresh fails all who wait for it, and those that were refused with the same credential but heard of it
///   later, with ``ErrandError/authenticationFailed``, the reason beneath it. The next request tries anew.
/// - A request that is refused with a fresh credential is not sent again: that response stands. So does one from another
///   origin, where a redirect led and the credential was not sent.
/// - The credential goes to the client's origins, as ``Client/Settings/authorization`` does, and to those that are named
///   to this (``CredentialOrigins``); a command that leads elsewhere by an absolute URL goes without.
/// - A request that is stopped while it waits leaves at once; the refresh goes on, in a task of its own, for the others.
///
/// One interceptor stands for one credential: share it between the clients and commands that use that. Any thread.
/// (YTKNetwork has no counterpart: there each failed request renews the token by itself.)
public final class AuthenticationInterceptor<A: Authenticator>: Interceptor {
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
        /// The refresh under way; not one that was overtaken.
        var refresh: Task<Void, Never>?
    }

    /// `credential`: the first one; `nil`, the default, has the first request get one. `refreshTimeout`: after that long
    /// a refresh counts as failed, with ``ErrandError/timeoutTotal`` beneath, and its task is cancelled; the default of
    /// 60 seconds is more than a token service needs, and less than for ever, which a hung one would hold up everybody.
    /// `origins`: where the credential may go; the default is the client's.
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

    /// The latest credential, fit to be sent or not; `nil` before the first, and after a logout.
    ///
    /// Set it after a login: requests that wait are sent with it, and a refresh under way ends in nothing; it is
    /// cancelled, unless it is the refresh itself that sets this, in its own task or one that it made (not in a closure on
    /// a callback queue: there, return the credential instead). Set it to `nil` to log out: requests that wait fail
    /// with ``ErrandError/authenticationFailed``, and so does every later one, before it is sent: nobody is logged in again
    /// until a credential is set, or ``invalidate()`` has the next request get one from nothing.
    public var credential: A.Credential? {
        get { guarded.withLock { $0.machine.credential } }
        set {
            let withdrawn = ErrandError.authenticationFailed.with(message: "the credential was taken away")
            let (settlement, overtaken) = guarded.withLock { guarded in
                (guarded.machine.credentialSet(newValue, otherwise: withdrawn), guarded.refresh.take())
            }
            if let settlement { settle(settlement) }
            // As a rule a refresh that was refused for good and logs out, which it has yet to say.
            if RefreshScope.current.contains(ObjectIdentifier(self)) { return }
            overtaken?.cancel()
        }
    }

    /// Has the next request refresh the credential before it is sent, after a logout too. Requests under way are not touched.
    public func invalidate() {
        guarded.withLock { $0.machine.invalidated() }
    }

    // MARK: Interceptor

    /// Applies the credential, refreshed before where need be.
    public func prepare(
        _ request: RequestDescription, in context: InterceptionContext
    ) async throws -> RequestDescription {
        let former = context.storage.credentialUse(of: self)
        // The first `prepare` of a run stands in a task that has the locals of whoever started the request; those of
        // replays need not.
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

    /// Yes where the credential was refused and there is a newer one, after a refresh where need be.
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

    /// Waits for a credential other than that of generation `refused`. Leaves when the task is cancelled.
    private func renewed(instead refused: UInt64?, after response: Response?) async throws -> Issue {
        try Task.checkCancellation()
        let number = lastWaiter.add(1, ordering: .relaxed).newValue
        let occasion = Machine.Occasion(response: response, scope: RefreshScope.current)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                perform(
                    guarded.withLock { guarded in
                        guarded.machine.credentialAwaited(by: number, waiter, refused: refused, occasion)
                    })
                // A task cancelled before that has had its handler called when nobody waited yet.
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
            // Under the lock: whoever overtakes it has to find it.
            let refresh = Task { [self] in
                end(order, await refreshed(order))
            }
            guarded.refresh = refresh
            return refresh
        }
        // It was overtaken before it was begun.
        guard let refresh = begun else { return end(order, .failure(.cancelled)) }
        let timer = Task { [self] in
            guard (try? await clock.sleep(for: min(refreshTimeout, Duration.longestSleep))) != nil else { return }
            let late = ErrandError.timeoutTotal.with(message: "the refresh took longer than \(refreshTimeout)")
            end(order, .failure(.noCredential(late)))
            refresh.cancel()
        }
        Task {
            await refresh.value
            timer.cancel()
        }
    }

    private func refreshed(_ order: Machine.Order) async -> Result<A.Credential, ErrandError> {
        do {
            // Not the present one: what was put off is begun by the task of the one before it.
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
}
