/// A credential to send, with its generation.
struct CredentialIssue<Credential: Sendable>: Sendable {
    let credential: Credential
    /// See ``CredentialStateMachine``.
    let generation: UInt64
}
