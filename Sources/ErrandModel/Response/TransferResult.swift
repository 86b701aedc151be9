/// How a transfer ended, before the status is checked.
public enum TransferResult: Sendable {
    /// A whole response arrived.
    case response(Response)
    /// No response arrived, or only a part, which the error then contains.
    case failure(ErrandError)
}

extension TransferResult {
    /// The size of the body of a whole response, without a copy of the response; `nil` for a failure.
    package var bodySize: Int? {
        switch self {
        case .response(let response): response.storage.body.count
        case .failure: nil
        }
    }

    /// Whether no part of the request was sent; false where that is not certain.
    package var isUnsent: Bool {
        switch self {
        case .response: false
        case .failure(let error): error.isUnsent
        }
    }

    /// The response, whole or partial.
    public var response: Response? {
        switch self {
        case .response(let response): response
        case .failure(let error): error.response
        }
    }
}
