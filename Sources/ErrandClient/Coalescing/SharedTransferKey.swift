import HTTPTypes

/// The key by which two requests are equal: every byte that they send, and how they are sent. The total timeout is not
/// part of it, because each request counts its own. The memory for the body of the response is not part of it either.
struct SharedTransferKey: Hashable {
    private let method: HTTPRequest.Method
    private let url: String
    private let headers: HeaderBlock
    private let body: [UInt8]
    private let options: CommandOptions
    private let reports: RequestDescription.Reports
    private let authentication: ServerAuthentication?
    private let timeouts: Timeouts
    private let limits: Limits
    private let priority: Priority
    private let connection: ConnectionOptions?
    /// Decides about the signature of the attempts.
    private let hasLeftOrigin: Bool
    /// The number of the last removal of the response from the cache before the request was sent.
    private let removals: UInt64

    /// `nil` if the transfer cannot be shared: a streamed response has one reader, and a file or a source may give
    /// other bytes the next time.
    init?(_ description: RequestDescription) {
        guard case .buffered = description.delivery else { return nil }
        // The settings of another command would decide about retries and limits.
        guard description.resilience == nil else { return nil }
        switch description.body {
        case .none: body = []
        case .bytes(let bytes): body = bytes
        case .data(let data): body = Array(data)
        case .shared(let bytes): body = bytes.copy()
        case .file, .stream, .source: return nil
        }
        method = description.method
        url = description.url
        headers = description.headers
        options = description.options.subtracting(.bodyMemory)
        reports = description.reports
        authentication = description.authentication
        var timeouts = description.settings.timeouts
        timeouts.total = nil
        self.timeouts = timeouts
        limits = description.settings.limits
        priority = description.settings.priority
        connection = description.settings.connection
        hasLeftOrigin = description.hasLeftOrigin
        removals = description.sendingMoment?.removals ?? 0
    }

    /// The other members are compared but not hashed: requests to one address seldom differ, and bodies may be long.
    func hash(into hasher: inout Hasher) {
        hasher.combine(method)
        hasher.combine(url)
    }
}
