extension ErrandError {
    /// The error for requests that need a credential. `error`: why there is none.
    static func noCredential(_ error: any Error) -> ErrandError {
        if let error = error as? ErrandError, error == .authenticationFailed { return error }
        return .authenticationFailed.with(message: "no credential could be had: \(error)", underlying: error)
    }
}
