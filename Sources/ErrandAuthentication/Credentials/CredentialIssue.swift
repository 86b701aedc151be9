/// A credential to send, and how new it is.
struct CredentialIssue<Credential: Sendable>: Sendable {
    let credential: Credential
    /// See ``CredentialStateMachine``.
    let generation: UInt64
}
