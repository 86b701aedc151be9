/// One event of a `text/event-stream` (WHATWG HTML 9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// The event's type; `message` if the stream names none.
    public var event: String
    /// The `data` lines, joined by LF.
    public var data: String
    /// The last event ID as of this event: the event's own ID, else the ID of an earlier event; empty if there is
    /// none. A reconnection sends it as `Last-Event-ID`.
    public var id: String
    /// The reconnection time that this event's `retry` lines set; `nil` for none.
    public var retry: Duration?

    /// Makes an event, for tests and servers.
    public init(event: String = "message", data: String, id: String = "", retry: Duration? = nil) {
        self.event = event
        self.data = data
        self.id = id
        self.retry = retry
    }
}
