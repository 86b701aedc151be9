extension ErrandError {
    /// The error for requests that need a credential. `error`: why there is none.
    static func noCredential(_ error: any Error) -> ErrandError {
        if let error = error as? ErrandError, error == .authenticationFailed { return error }
        return .authenticationFailed.with(message: "the credential could not be obtained: \(error)", underlying: error)
    }
}
