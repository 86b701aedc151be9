extension ErrandError {
    /// The error of whoever was to get a credential, for those who need it.
    static func noCredential(_ error: any Error) -> ErrandError {
        if let error = error as? ErrandError, error == .authenticationFailed { return error }
        return .authenticationFailed.with(message: "no credential could be had: \(error)", underlying: error)
    }
}
