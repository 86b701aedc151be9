/// What happens to a request between its start and its end, for an ``EventAccessory``.
public enum RequestEvent: Sendable {
    /// A transfer was handed to the transport, where it may wait for admission. The description is what the transfer
    /// sends, with the changes of all interceptors.
    case queued(RequestDescription)
    /// The transfer was admitted.
    case started
    /// The connection of an attempt, for requests with ``CommandOptions/connectionTrace``; ``sent(_:)`` follows. If the engine
    /// resends the request because a reused connection was dead, the new connection is reported too.
    // Indirect: a trace in place would make every event larger.
    indirect case connected(ConnectionTrace)
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
    /// The engine itself has resent the request within an attempt: on another connection because a reused one was dead
    /// (``Resend/connection``), or with the answer to a Digest challenge (``Resend/authentication``). Comes before
    /// ``head(_:)``, once for each send. Without a head it comes before the end of the attempt.
    case resent(Resend)
    /// An attempt of a transfer failed, and the client's `resilience` has decided to send the request again. The transfer
    /// goes on: ``started`` and ``sent(_:)`` of the next attempt follow, unless a breaker or a limit refuses that attempt.
    /// ``AnyRequest/resends`` has the attempts that were sent.
    case retrying(TransferRetry)
    /// The client's `resilience`, `endpoints`, `altServices` or `hsts` has decided something about an attempt: a breaker
    /// or a limit refused it, it waits, it is not retried, or it goes to another place than its URL says.
    case decided(ResilienceDecision)
    /// A child of a group has ended: the number of ended children, and the total number if it is known.
    case advanced(ended: Int, of: Int?)
    /// An interceptor answers with this response, although nothing was sent or the last transfer failed. The response of
    /// an earlier transfer of the run is no such answer.
    case answered(Response)
    /// A `Fallback` answers instead of a result that it does not accept; `source` is the kind of its answer.
    case fellBack(after: TransferResult, source: FallbackSource)
    /// The response of the request or of a hop comes from the cache; the end of the transfer follows.
    case cacheHit
    /// A stored response that could be used. The network is asked next (``CacheReading/cacheThenNetwork``).
    case cached(Response)
}
