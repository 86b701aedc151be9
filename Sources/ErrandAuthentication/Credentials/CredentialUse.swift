/// What one run has to do with the credential of one ``AuthenticationInterceptor``.
enum CredentialUse: Sendable {
    /// The request is a part of the refresh: it goes without.
    case bypassed
    case sent(Sent)

    struct Sent: Sendable {
        var generation: UInt64
        /// This run has waited for a new credential, or been sent again with one: it has had its chance.
        var isRenewed: Bool
        /// Where it was sent to.
        var origin: String
    }

    /// By interceptor: a run may pass through several, of the same type even.
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
    /// Whether the result that is looked at came from there, and not from where a redirect led, which did not see what
    /// was sent to tell who asks.
    func isResult(from origin: String) -> Bool {
        lastURL.map { URLReference($0).origin == origin } ?? true
    }
}
