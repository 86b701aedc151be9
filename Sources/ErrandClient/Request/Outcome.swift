/// What a request that succeeded has brought: the value, and the response that it was made of.
public struct Outcome<Value: Sendable>: Sendable {
    /// What the command made of the response.
    public let value: Value
    /// The response: status, header fields, body.
    public let response: Response

    /// What the last transfer cost.
    public var metrics: TransferMetrics { response.metrics }
}
