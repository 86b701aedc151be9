/// What a download is allowed to do, and what it is to come to.
struct DownloadPolicy: Sendable, Hashable {
    /// What the file must be long; another length is ``ErrandError/lengthMismatch``.
    var expectedLength: Int64?
    /// Whether a digest is to be compared before the file is put in place.
    var checksDigest = false
    /// Whether to go on where the server gives nothing to tell one content from another, or only a weak entity tag: the
    /// length and what little there is must do then. By default such a download begins anew.
    var resumesWithoutValidator = false
    /// Failures in a row, without a byte between them, after which to give up.
    var maximumFailures = 5
    /// How often to begin from zero because the content changed or was not what was asked for, before giving up.
    var maximumRestarts = 3
    var firstDelay: Duration = .seconds(1)
    var maximumDelay: Duration = .seconds(60)
    /// How much of a wait may be left out at random: 0, never, to 1.
    var jitter: Double = 0.2
    /// Statuses after which to try again.
    var retryableStatusCodes: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

    /// The wait after so many failures in a row; a server's `Retry-After` may make it longer.
    func delay(failures: Int, leastByServer: Duration?, random: Double) -> Duration {
        var delay = max(firstDelay, .milliseconds(10))
        for _ in 1..<max(2, min(failures, 64)) where failures > 1 && delay < maximumDelay { delay += delay }
        let fraction = min(1, max(0, jitter)) * min(1, max(0, random))
        return min(max(min(delay, maximumDelay) * (1 - fraction), leastByServer ?? .zero), maximumDelay)
    }
}
