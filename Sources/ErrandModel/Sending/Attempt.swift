/// One transfer of a request: the first one, and one for every redirect and replay.
public struct Attempt: Sendable {
    /// 1 for the first transfer of a run.
    public let number: Int
    /// The requested URL.
    public let url: String
    /// The response; `nil` where none began.
    public let response: Response?
    /// Why the transfer failed; `nil` where a whole response arrived.
    public let error: ErrandError?

    package init(number: Int, url: String, response: Response?, error: ErrandError?) {
        self.number = number
        self.url = url
        self.response = response
        self.error = error
    }

    /// Timings and byte counts of the transfer, as far as it got; `nil` where nothing was sent.
    public var metrics: TransferMetrics? { response?.metrics ?? error?.metrics }
}
