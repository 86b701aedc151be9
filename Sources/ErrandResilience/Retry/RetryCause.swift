/// Why an attempt is followed by a retry.
public enum RetryCause: Sendable, Hashable {
    /// The answer's status.
    case status(Int)
    /// The kind of the attempt's error.
    case failure(ErrandError.TransientFailure)

    /// `status503`, `noConnection`: few values, fit for a metric label.
    public var label: String {
        switch self {
        case .status(let code): "status\(code)"
        case .failure(let kind): kind.rawValue
        }
    }
}
