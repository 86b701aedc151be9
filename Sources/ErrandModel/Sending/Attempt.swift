/// One transfer of a request: the first, and one more for every redirect and replay.
public struct Attempt: Sendable {
    /// 1 for the first of a run.
    public let number: Int
    /// What was asked for.
    public let url: String
    /// What came; `nil` where no response began.
    public let response: Response?
    /// Why it failed; `nil` where a whole response came.
    public let error: ErrandError?

    package init(number: Int, url: String, response: Response?, error: ErrandError?) {
        self.number = number
        self.url = url
        self.response = response
        self.error = error
    }

    /// How long each phase took, as far as it got; `nil` where nothing was sent.
    public var metrics: TransferMetrics? { response?.metrics ?? error?.metrics }
}
