/// The result of a successful request: the value, and the response that the value was made of.
public struct Outcome<Value: Sendable>: Sendable {
    /// The value that the command made of the response.
    public let value: Value
    /// The response: status, header fields, body.
    public let response: Response

    /// The metrics of the last transfer.
    public var metrics: TransferMetrics { response.metrics }
}
