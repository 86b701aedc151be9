/// What happens to a request between its start and its end, for an ``EventAccessory``.
public enum RequestEvent: Sendable {
    /// A transfer was handed to the transport, where it may wait for admission. The description is what the transfer
    /// sends, with the changes of all interceptors.
    case queued(RequestDescription)
    /// The transfer was admitted.
    case started
    /// A connection is ready, and the described request is about to be sent. For an accessory with its own queue,
    /// ``AnyRequest/transferDescription`` may already be that of a later transfer when this event arrives.
    case sent(RequestDescription)
    /// The status and the header fields of the response are known; the body is empty here.
    case head(Response)
    /// Bytes were sent or received.
    case progress(TransferProgress)
    /// A transfer ended with a redirect, and the request follows it to the URL `to`.
    case redirected(Attempt, to: String)
    /// A transfer ended, and the request is sent again.
    case replaying(Attempt)
    /// An attempt of a transfer failed, and the client's `resilience` sends the request again. The transfer goes on:
    /// ``started`` and ``sent(_:)`` of the next attempt follow.
    case retrying(TransferRetry)
    /// A child of a group has ended: the number of ended children, and the total number if it is known.
    case advanced(ended: Int, of: Int?)
    /// The response of the request or of a hop comes from the cache; the end of the transfer follows.
    case cacheHit
    /// A stored response that could be used. The network is asked next (``CacheReading/cacheThenNetwork``).
    case cached(Response)
}
