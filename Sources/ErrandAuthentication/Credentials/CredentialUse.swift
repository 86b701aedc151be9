/// How one run uses the credential of one ``AuthenticationInterceptor``.
enum CredentialUse: Sendable {
    /// The request is part of the refresh and is sent without the credential.
    case bypassed
    case sent(Sent)

    struct Sent: Sendable {
        var generation: UInt64
        /// Whether this run has waited for a new credential, or was replayed with one: it gets no second refresh.
        var isRenewed: Bool
        /// The origin that the request was sent to.
        var origin: String
    }

    /// Keyed by interceptor: a run may pass several of them, even of the same type.
    fileprivate struct Table: Sendable {
        var uses: [ObjectIdentifier: CredentialUse] = [:]
    }
}

extension InterceptionContext.Storage {
    func credentialUse(of interceptor: some AnyObject) -> CredentialUse? {
        self[CredentialUse.Table.self]?.uses[ObjectIdentifier(interceptor)]
    }

    func setCredentialUse(of interceptor: some AnyObject, _ use: CredentialUse?) {
        var table = self[CredentialUse.Table.self] ?? CredentialUse.Table()
        table.uses[ObjectIdentifier(interceptor)] = use
        self[CredentialUse.Table.self] = table
    }
}

extension InterceptionContext {
    /// Whether the result came from that origin, not from the target of a redirect, which did not receive the
    /// credentials.
    func isResult(from origin: String) -> Bool {
        lastURL.map { URLReference($0).origin == origin } ?? true
    }
}

/// A credential to send, with its generation.
struct CredentialIssue<Credential: Sendable>: Sendable {
    let credential: Credential
    /// See ``CredentialStateMachine``.
    let generation: UInt64
}
