/// How a transfer ended, before anybody looked at the status.
public enum TransferResult: Sendable {
    /// A whole response came.
    case response(Response)
    /// None, or only a part of one, which is then in the error.
    case failure(ErrandError)
}

extension TransferResult {
    /// What came, whole or not.
    public var response: Response? {
        switch self {
        case .response(let response): response
        case .failure(let error): error.response
        }
    }
}
