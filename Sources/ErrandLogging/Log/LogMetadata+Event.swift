import HTTPTypes
import Logging

extension Logger.Metadata {
    /// Adds the metadata of an event.
    mutating func add(_ event: RequestEvent, _ redaction: Redaction) {
        switch event {
        case .connected(let trace): add(trace)
        case .sent(let description):
            self["method"] = "\(description.method.rawValue)"
            self["url"] = "\(redaction.url(description.url))"
        case .head(let head): addStatus(of: head)
        case .redirected(let attempt, let url):
            addStatus(of: attempt.response)
            self["to"] = "\(redaction.url(url))"
        case .replaying(let attempt): addStatus(of: attempt.response)
        case .resent(let reason): self["reason"] = "\(reason.label)"
        case .retrying(let retry):
            self["reason"] = "\(retry.reason)"
            self["wait"] = "\(retry.wait / .milliseconds(1)) ms"
        case .decided(let decision): self["decision"] = "\(decision.label)"
        case .fellBack(_, let source): self["source"] = "\(source)"
        case .queued, .started, .progress, .advanced, .answered, .cacheHit, .cached: break
        }
    }

    private mutating func addStatus(of response: Response?) {
        guard let response, response.statusCode > 0 else { return }
        self["status"] = "\(response.statusCode)"
    }

    private mutating func add(_ trace: ConnectionTrace) {
        self["connection"] = "\(trace.isReused ? "reused" : "new")"
        self["peer"] = trace.remoteAddress.map { "\($0)" }
        self["local"] = trace.localAddress.map { "\($0)" }
        self["proxy"] = trace.proxy.map { "\($0)" }
        guard let tls = trace.tls else { return }
        self["tls"] = "\(tls.version)"
        self["cipher"] = tls.cipher.map { "\($0)" }
        self["protocol"] = tls.applicationProtocol.map { "\($0)" }
        self["certificate"] = (tls.certificates.first?.subject).map { "\($0)" }
    }
}
