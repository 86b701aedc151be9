/// What happens to a request between its start and its end, for an ``EventAccessory``.
public enum RequestEvent: Sendable {
    /// A transfer is handed to the transport, where it may wait for admission. The description is what the transfer sends,
    /// with the changes of all interceptors.
    case queued(RequestDescription)
    /// It was admitted.
    case started
    /// A connection is ready, and the request described is about to go out. ``AnyRequest/transferDescription`` may be that
    /// of a later transfer by the time an accessory with a queue of its own hears of this one.
    case sent(RequestDescription)
    /// Status and header fields of the response are known; the body is empty here.
    case head(Response)
    /// Bytes have moved.
    case progress(TransferProgress)
    /// A transfer ended with a redirect, and the request follows it to the URL `to`.
    case redirected(Attempt, to: String)
    /// A transfer ended, and the request is sent again.
    case replaying(Attempt)
    /// A child of a group has ended: so many have, and there are so many, where that is known.
    case advanced(ended: Int, of: Int?)
    /// The response, or that of a hop, comes from the cache; its end follows.
    case cacheHit
    /// What was stored, and could be used; the network is asked next (``CacheReading/cacheThenNetwork``).
    case cached(Response)
}
