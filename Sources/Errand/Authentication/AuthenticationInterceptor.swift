import Synchronization

/// Sends a credential with every request, and gets a new one when it is refused or runs out: once, however many requests
/// need it, which are then sent again.
///
/// ```swift
/// let authentication = AuthenticationInterceptor(TokenAuthenticator(client: authClient), credential: savedToken)
/// let client = Client(configuration: .init(baseURL: base, interceptors: [authentication]))
/// ```
///
/// - A thousand responses of status 401 cause one refresh. Requests that were refused with an older credential than the
///   present one are sent again with that, without a refresh.
/// - A failed refresh fails all who wait for it, and those that were refused with the same credential but heard of it
///   later, with ``ErrandError/authenticationFailed``, the reason beneath it. The next request tries anew.
/// - A request that is refused with a fresh credential is not sent again: that response stands. So does one from another
///   origin, where a redirect led and the credential was not sent.
/// - A request that is stopped while it waits leaves at once; the refresh goes on, in a task of its own, for the others.
///
/// One interceptor stands for one credential: share it between the clients and commands that use that. Any thread.
/// (YTKNetwork has no counterpart: there each failed request renews the token by itself.)
public final class AuthenticationInterceptor<A: Authenticator>: Interceptor {
    typealias Issue = CredentialIssue<A.Credential>
    typealias Waiter = CheckedContinuation<Issue, any Error>
    typealias Machine = CredentialStateMachine<A.Credential, Waiter>

    private let authenticator: A
    private let refreshTimeout: Duration
    private let clock: any Clock<Duration>
    private let machine: Mutex<Machine>
    private let lastWaiter = Atomic<UInt64>(0)

    /// `credential`: the first one; `nil`, the default, has the first request get one. `refreshTimeout`: after that long
    /// a refresh counts as failed, with ``ErrandError/timeoutTotal`` beneath, and its task is cancelled; the default of
    /// 60 seconds is more than a token service needs, and less than for ever, which a hung one would hold up everybody.
    public init(
        _ authenticator: A, credential: A.Credential? = nil, refreshTimeout: Duration = .seconds(60),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.authenticator = authenticator
        self.refreshTimeout = refreshTimeout
        self.clock = clock
        machine = Mutex(Machine(credential))
    }

    /// The latest credential, fit to be sent or not; `nil` before the first, and after a logout.
    ///
    /// Set it after a login: requests that wait are sent with it, and a refresh under way ends in nothing. Set it to
    /// `nil` to log out: requests that wait fail with ``ErrandError/authenticationFailed``, and the next one has
    /// ``Authenticator/refresh(_:after:)`` get a credential from nothing.
    public var credential: A.Credential? {
        get { machine.withLock { $0.credential } }
        set {
            let withdrawn = ErrandError.authenticationFailed.with(message: "the credential was taken away")
            settle(machine.withLock { $0.credentialSet(newValue, otherwise: withdrawn) })
        }
    }

    /// Has the next request refresh the credential before it is sent. Requests under way are not touched.
    public func invalidate() {
        machine.withLock { $0.invalidated() }
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
        guard authenticator.applies(to: request) else {
            context.storage.setCredentialUse(of: self, nil)
            return request
        }
        let present = machine.withLock { $0.issue }
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
        let isOutdated = machine.withLock { $0.issue.map { $0.generation > sent.generation } ?? false }
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
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                let action = machine.withLock { $0.credentialAwaited(by: number, waiter, refused: refused) }
                switch action {
                case .wait: break
                case .refresh(let order): begin(order, after: response)
                case .settle(let settlement): settle(settlement)
                }
                // A task cancelled before that has had its handler called when nobody waited yet.
                if Task.isCancelled { leave(number) }
            }
        } onCancel: {
            leave(number)
        }
    }

    private func leave(_ number: UInt64) {
        machine.withLock { $0.waiterLeft(number) }?.resume(throwing: CancellationError())
    }

    private func begin(_ order: Machine.Order, after response: Response?) {
        let refresh = Task { [self] in
            end(order, await refreshed(order.credential, after: response))
        }
        let timer = Task { [self] in
            guard (try? await clock.sleep(for: refreshTimeout)) != nil else { return }
            let late = ErrandError.timeoutTotal.with(message: "the refresh took longer than \(refreshTimeout)")
            end(order, .failure(.noCredential(late)))
            refresh.cancel()
        }
        Task {
            await refresh.value
            timer.cancel()
        }
    }

    private func refreshed(_ credential: A.Credential?, after response: Response?) async
        -> Result<A.Credential, ErrandError>
    {
        do {
            let scope = RefreshScope.current.union([ObjectIdentifier(self)])
            return .success(
                try await RefreshScope.$current.withValue(scope) {
                    try await authenticator.refresh(credential, after: response)
                })
        } catch {
            return .failure(.noCredential(error))
        }
    }

    private func end(_ order: Machine.Order, _ result: Result<A.Credential, ErrandError>) {
        settle(machine.withLock { $0.refreshEnded(order.flight, result) })
    }

    private func settle(_ settlement: Machine.Settlement?) {
        guard let settlement else { return }
        for waiter in settlement.waiters { waiter.resume(with: settlement.outcome) }
    }
}

/// The interceptors whose refresh the present task belongs to.
enum RefreshScope {
    @TaskLocal static var current: Set<ObjectIdentifier> = []
}
