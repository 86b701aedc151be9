import HTTPTypes

/// The settings of a download, checked and fixed for the life of its request.
struct DownloadSettings: Sendable {
    let destination: DownloadDestination
    let overwrite: OverwritePolicy
    let policy: DownloadPolicy
    /// The expected digest in lower case.
    let expectedDigest: String?
    let width: Int
    let rate: Int?
    let resumes: ResumePolicy
    let createsDirectories: Bool
    let acceptsEncodings: Bool
    let retriesFirstConnection: Bool
    let ignoresQuery: Bool

    /// Throws ``ErrandError/invalidArgument``.
    init(_ download: Download) throws(ErrandError) {
        guard (1...64).contains(download.ranges) else {
            throw Self.invalid("'ranges' is \(download.ranges), expected 1...64")
        }
        if let rate = download.rateLimit, rate <= 0 {
            throw Self.invalid("'rateLimit' is \(rate), expected more than 0")
        }
        if let size = download.expectedSize, size < 0 {
            throw Self.invalid("'expectedSize' is \(size), expected 0 or more")
        }
        let retry = download.retry
        guard retry.maximumFailures >= 0, retry.maximumRestarts >= 0, retry.firstDelay >= .zero,
            retry.maximumDelay >= .zero, retry.maximumDelay <= Timeouts.maximum
        else { throw Self.invalid("'retry' has a member below 0, or a 'maximumDelay' above 30 days") }
        if let digest = download.sha256, !Self.isDigest(digest) {
            throw Self.invalid("'sha256' does not have 64 hexadecimal digits")
        }
        destination = download.destination.absolute
        overwrite = download.overwrite
        var policy = DownloadPolicy()
        policy.expectedLength = download.expectedSize
        policy.checksDigest = download.sha256 != nil || download.computesSHA256
        policy.resumesWithoutValidator = download.resumes == .always
        policy.maximumFailures = retry.maximumFailures
        policy.maximumRestarts = retry.maximumRestarts
        policy.firstDelay = retry.firstDelay
        policy.maximumDelay = retry.maximumDelay
        self.policy = policy
        expectedDigest = download.sha256?.lowercased()
        width = download.ranges
        rate = download.rateLimit
        resumes = download.resumes
        createsDirectories = download.createsDirectories
        acceptsEncodings = download.acceptsEncodings
        retriesFirstConnection = retry.coversFirstConnection
        ignoresQuery = download.ignoresQuery
    }

    private static func invalid(_ message: String) -> ErrandError {
        .invalidArgument.with(message: message)
    }

    private static func isDigest(_ text: String) -> Bool {
        text.utf8.count == 2 * SHA256.byteCount
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x46).contains($0) || (0x61...0x66).contains($0)
            }
    }

    /// Throws if the request cannot be a download. A download may be sent more than once and in parts.
    static func check(_ description: RequestDescription) throws(ErrandError) {
        guard description.method == .get else {
            throw invalid("the method of a download is \(description.method.rawValue), expected GET")
        }
        guard case .buffered = description.delivery else {
            throw invalid("the response of a download cannot be streamed")
        }
        switch description.body {
        case .none, .bytes, .data, .shared, .file: break
        case .stream, .source: throw invalid("the request body of a download cannot be streamed")
        }
        if description.headers[.range] != nil || description.headers[.ifRange] != nil {
            throw ErrandError.invalidHeader.with(message: "the fields Range and If-Range of a download cannot be set")
        }
    }
}

/// The limits of a download and the checks on its result.
struct DownloadPolicy: Sendable, Hashable {
    /// The required length of the file; any other length is ``ErrandError/lengthMismatch``.
    var expectedLength: Int64?
    /// Whether a digest is compared before the file is put in place.
    var checksDigest = false
    /// Whether to resume if the server sent no validator or only a weak entity tag. The length and the validators that
    /// were sent then decide whether the content is the same. By default such a download starts from zero.
    var resumesWithoutValidator = false
    /// The number of consecutive failures, without a byte between them, after each of which the download tries again.
    /// The next failure ends the download.
    var maximumFailures = 5
    /// The maximum number of restarts from zero because the content changed or was not the requested content. After
    /// that the download gives up.
    var maximumRestarts = 3
    var firstDelay: Duration = .seconds(1)
    var maximumDelay: Duration = .seconds(60)
    /// The largest share of a wait that may be cut off at random, from 0 (none) to 1.
    var jitter: Double = 0.2
    // A repeated GET may succeed after these statuses: some ask for another try (408, 425, 429, 503), the others come
    // from servers and proxies that fail for the moment (500, 502, 504).
    /// The statuses after which the download tries again.
    var retryableStatusCodes: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

    /// The wait after `failures` failures in a row; a server's `Retry-After` may make it longer.
    func delay(failures: Int, leastByServer: Duration?, random: Double) -> Duration {
        Backoff(first: max(firstDelay, .milliseconds(10)), maximum: maximumDelay, jitter: jitter)
            .delay(failures: failures, leastByServer: leastByServer, random: random)
    }
}
