import Logging

/// The lines of a ``LoggingAccessory``.
package enum LogLine: CaseIterable, Sendable {
    case start, connected, sent, head, redirected, replayed, resent, retried, decided, fellBack, success, stop, failure

    /// The line for an event; `nil`: it has none.
    init?(_ event: RequestEvent) {
        switch event {
        case .connected: self = .connected
        case .sent: self = .sent
        case .head: self = .head
        case .redirected: self = .redirected
        case .replaying: self = .replayed
        case .resent: self = .resent
        case .retrying: self = .retried
        case .decided: self = .decided
        case .fellBack: self = .fellBack
        case .queued, .started, .progress, .advanced, .answered, .cacheHit, .cached: return nil
        }
    }

    /// The text of the line.
    package var message: String {
        switch self {
        case .start: "request starts"
        case .connected: "connection ready"
        case .sent: "attempt sent"
        case .head: "response begins"
        case .redirected: "redirect followed"
        case .replayed: "request sent again"
        case .resent: "engine sent again"
        case .retried: "attempt failed"
        case .decided: "attempt decided"
        case .fellBack: "fallback answers"
        case .success: "request succeeded"
        case .stop: "request stopped"
        case .failure: "request failed"
        }
    }

    /// Whether the line has the number of an attempt.
    package var isOfAttempt: Bool {
        switch self {
        case .connected, .sent, .head, .redirected, .replayed, .resent, .retried, .decided: true
        case .start, .fellBack, .success, .stop, .failure: false
        }
    }

    /// The name of the line's level in ``LoggingAccessory/Levels``, and the level itself.
    private func named(in levels: LoggingAccessory.Levels) -> (name: String, level: Logger.Level?) {
        switch self {
        case .start: ("start", levels.start)
        case .connected, .sent, .head: ("attempt", levels.attempt)
        case .redirected, .replayed, .resent, .retried: ("resend", levels.resend)
        case .decided, .fellBack: ("decision", levels.decision)
        case .success: ("success", levels.success)
        case .stop: ("stop", levels.stop)
        case .failure: ("failure", levels.failure)
        }
    }

    func level(in levels: LoggingAccessory.Levels) -> Logger.Level? { named(in: levels).level }

    /// The metadata of the line in addition to that of all lines.
    private var metadataText: String {
        switch self {
        case .start: ""
        case .connected: "connection, peer, local, proxy, tls, cipher, protocol, certificate"
        case .sent: "method, url"
        case .head: "status"
        case .redirected: "status, to"
        case .replayed: "status"
        case .resent: "reason"
        case .retried: "reason, wait"
        case .decided: "decision"
        case .fellBack: "source"
        case .success, .stop: "method, url, status, sent, received, attempts, resends, milliseconds, cache"
        case .failure: "the same, and error, curl, errno"
        }
    }

    /// The documented table, in Markdown.
    package static var table: [String] {
        let levels = LoggingAccessory.Levels()
        return ["| line | level | member of `Levels` | has `attempt` | more metadata |", "|---|---|---|---|---|"]
            + allCases.map { line -> String in
                let (name, level) = line.named(in: levels)
                let cells = [
                    line.message, level.map(\.rawValue) ?? "none", "`\(name)`", line.isOfAttempt ? "yes" : "",
                    line.metadataText,
                ]
                return "|" + cells.map { $0.isEmpty ? " |" : " \($0) |" }.joined()
            }
    }
}
