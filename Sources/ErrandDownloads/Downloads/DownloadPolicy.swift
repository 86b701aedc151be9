/// The limits of a download and the checks on its result.
struct DownloadPolicy: Sendable, Hashable {
    /// The required length of the file; any other length is ``ErrandError/lengthMismatch``.
    var expectedLength: Int64?
    /// Whether a digest is compared before the file is put in place.
    var checksDigest = false
    /// Whether to resume where the server sent no validator or only a weak entity tag. The length and whatever
    /// validators there are then decide whether the content is the same. By default such a download starts from zero.
    var resumesWithoutValidator = false
    /// The number of failures in a row, without a byte between them, that are followed by another try. The next
    /// failure ends the download.
    var maximumFailures = 5
    /// How often to start from zero because the content changed or was not the requested content, before giving up.
    var maximumRestarts = 3
    var firstDelay: Duration = .seconds(1)
    var maximumDelay: Duration = .seconds(60)
    /// The largest share of a wait that may be left out at random: from 0, none, to 1.
    var jitter: Double = 0.2
    /// The statuses after which the download tries again.
    var retryableStatusCodes: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

    /// The wait after `failures` failures in a row; a server's `Retry-After` may make it longer.
    func delay(failures: Int, leastByServer: Duration?, random: Double) -> Duration {
        Backoff(first: max(firstDelay, .milliseconds(10)), maximum: maximumDelay, jitter: jitter)
            .delay(failures: failures, leastByServer: leastByServer, random: random)
    }
}
