import Errand
import HTTPTypes

/// `-v`: prints requests and responses to standard error, as curl does, with secrets hidden. On one queue, so that the
/// lines of several URLs do not mix.
final class FetchVerbose: EventAccessory {
    let callbackQueue: CallbackQueue? = .serial()

    func request(_ request: AnyRequest, did event: RequestEvent) {
        switch event {
        case .sent(let description): sent(description)
        case .head(let response): received(response)
        case .redirected(_, let url): show("* redirected to " + Shown.url(url))
        case .replaying: show("* request sent again with credentials")
        case .retrying(let retry): show("* attempt \(retry.attempt) failed (\(retry.reason)), sent again")
        case .queued, .started, .progress, .advanced, .cacheHit, .cached: break
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
