/// Counts the attempts of a run by its events, which may arrive after the request has moved on. Hedges have no events, so
/// they do not count.
struct AttemptCount: Sendable {
    private var number = 1
    private var isQueued = false
    /// Whether the next attempt is counted already.
    private var isAhead = false

    /// Takes the next event. Returns the number of the attempt that it is about, from 1.
    mutating func take(_ event: RequestEvent) -> Int {
        switch event {
        case .queued:
            // The transfer was queued once more, because the body was needed again; no other event reports this.
            if isQueued, !isAhead { number += 1 }
            isQueued = true
            isAhead = false
        case .sent:
            isAhead = false
        case .redirected, .replaying, .retrying:
            isAhead = true
            number += 1
            return number - 1
        case .started, .connected, .head, .progress, .resent, .decided, .advanced, .answered, .fellBack, .cacheHit,
            .cached:
            break
        }
        return number
    }
}
