import Errand
import Synchronization

/// Prints on standard error why and when a request is retried, as curl does.
///
/// The accessory has no separate queue, so that the note is printed before the end of the request is known.
final class FetchRetryNotes: EventAccessory {
    private let url: String
    /// The URL that was requested last: `url`, or the target of a redirect.
    private let current: Mutex<String>
    /// The retries that were made before those of this client.
    private let before: Int
    private let limit: Int

    init(_ url: String, before: Int, limit: Int) {
        self.url = url
        current = Mutex(url)
        self.before = before
        self.limit = limit
    }

    func request(_ request: AnyRequest, did event: RequestEvent) {
        switch event {
        case .redirected(_, let target): current.withLock { $0 = target }
        // Credentials were added. The redirects are followed again from the first URL.
        case .replaying: current.withLock { $0 = url }
        case .retrying(let retry):
            let url = current.withLock { $0 }
            Self.show(url, Self.text(retry.reason), retry: before + retry.attempt, of: limit, after: retry.wait)
        default: break
        }
    }

    static func show(_ url: String, _ reason: String, retry: Int, of limit: Int, after wait: Duration) {
        let seconds = Double(wait.nanoseconds) / 1e9
        StandardError.print(
            "errand: \(Shown.url(url)): \(reason); retry \(retry) of \(limit) "
                + (seconds > 0 ? "in \(seconds.timeText)" : "now"))
    }

    /// `status503` as `status 503`, `brokenConnection` as `broken connection`.
    static func text(_ reason: String) -> String {
        var text = ""
        for character in reason {
            let begins = character.isUppercase || character.isNumber && text.last?.isNumber == false
            text += (begins ? " " : "") + character.lowercased()
        }
        return text
    }

    func requestWillStart(_ request: AnyRequest) {}
    func requestWillStop(_ request: AnyRequest) {}
    func requestDidStop(_ request: AnyRequest) {}
}
