import Errand
import HTTPTypes

/// `-v`: prints requests and responses to standard error, as curl does, with secrets hidden. All events run on one
/// queue, so that the lines of several URLs do not mix.
final class FetchVerbose: EventAccessory {
    private let queue = CallbackQueue.serial()
    var callbackQueue: CallbackQueue? { queue }

    /// Waits until all events of ended requests are printed. The result of a request does not wait for its events.
    func drained() async {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume() }
        }
    }

    func request(_ request: AnyRequest, did event: RequestEvent) {
        switch event {
        case .connected(let trace): connected(trace, request)
        case .sent(let description): sent(description)
        case .head(let response): received(response)
        case .redirected(_, let url): show("* redirected to " + Shown.url(url))
        case .replaying: show("* request sent again with credentials")
        case .resent(.authentication): show("* request sent again with credentials")
        case .resent: show("* kept connection was dead, request sent again")
        // FetchRetryNotes prints the retries.
        case .retrying: break
        case .queued, .started, .progress, .decided, .advanced, .answered, .fellBack, .cacheHit, .cached: break
        }
    }

    func requestDidStop(_ request: AnyRequest) {
        guard let metrics = request.metrics else { return }
        var parts = [(Double(metrics.total.nanoseconds) / 1e9).timeText]
        if let address = metrics.remoteAddress { parts.append(address) }
        if let version = metrics.httpVersion { parts.append("HTTP/" + version) }
        parts.append(metrics.isConnectionReused ? "connection reused" : "new connection")
        show("* " + parts.joined(separator: ", "))
    }

    private func connected(_ trace: ConnectionTrace, _ request: AnyRequest) {
        let host = ServerPlace(URLReference(request.url ?? "")).address
        show(ConnectionText(trace, host: host).lines.joined(separator: "\n"))
    }

    private func sent(_ description: RequestDescription) {
        var lines = ["> \(description.method.rawValue) \(Shown.url(description.url))"]
        for field in Redaction.standard.fields(description.headers.fields) {
            lines.append("> \(field.name.rawName): \(Shown.text(field.value))")
        }
        if let authentication = description.authentication { lines.append("* \(authentication)") }
        show(lines.joined(separator: "\n"))
    }

    private func received(_ response: Response) {
        let statusLine = response.rawHead.prefix { $0 != 0x0D && $0 != 0x0A }
        var lines = ["< " + Shown.head(Array(statusLine))]
        for field in Redaction.standard.fields(response.headers) {
            lines.append("< \(field.name.rawName): \(Shown.text(field.value))")
        }
        show(lines.joined(separator: "\n"))
    }

    private func show(_ text: String) {
        StandardError.print(text)
    }

    func requestWillStart(_ request: AnyRequest) {}
    func requestWillStop(_ request: AnyRequest) {}
}
