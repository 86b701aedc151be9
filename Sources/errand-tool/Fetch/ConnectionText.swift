import Errand
import Foundation

/// The lines of `-v` about a connection, as curl prints them.
struct ConnectionText {
    let lines: [String]

    /// `host`: the host of the request.
    init(_ trace: ConnectionTrace, host: String) {
        var lines = [Self.place(trace, host)]
        if let proxy = trace.proxy { lines.append("* through the proxy \(proxy)") }
        if let tls = trace.tls { lines += Self.session(tls, isReused: trace.isReused) }
        self.lines = lines.map { Shown.text($0) }
    }

    /// `* Connected to localhost (127.0.0.1) port 443, lookup 1 ms, TCP 2 ms, TLS 9 ms`
    private static func place(_ trace: ConnectionTrace, _ host: String) -> String {
        var line = trace.isReused ? "* Re-using existing connection to \(host)" : "* Connected to \(host)"
        if let peer = trace.remoteAddress.flatMap({ ServerPlace(endpoint: $0) }) {
            line += " (\(peer.address)) port \(peer.port)"
        }
        let phases = [("lookup", trace.resolved), ("TCP", trace.connected), ("TLS", trace.secured)]
        for case let (name, time?) in phases {
            line += ", \(name) \((Double(time.nanoseconds) / 1e9).timeText)"
        }
        return line
    }

    private static func session(_ tls: ConnectionTrace.TLS, isReused: Bool) -> [String] {
        var line = "* SSL connection using \(tls.version)"
        if let cipher = tls.cipher { line += " / \(cipher)" }
        if tls.isResumed { line += ", session resumed" }
        var lines = [line]
        if let name = tls.applicationProtocol { lines.append("* ALPN: server accepted \(name)") }
        // The certificate was already printed for the request that made the connection.
        guard !isReused, let certificate = tls.certificates.first else { return lines }
        lines += [
            "* Server certificate:", "*  subject: \(certificate.subject)",
            "*  start date: \(date(certificate.notBefore))", "*  expire date: \(date(certificate.notAfter))",
            "*  issuer: \(certificate.issuer)",
        ]
        if !certificate.names.isEmpty { lines.append("*  names: \(certificate.names.joined(separator: ", "))") }
        lines.append("*  SHA-256: \(certificate.sha256)")
        for other in tls.certificates.dropFirst() { lines.append("*  also sent: \(other.subject)") }
        lines.append(
            tls.verificationError.map { "*  certificate is not trusted, and accepted all the same: \($0)" }
                ?? "*  certificate is trusted")
        return lines
    }

    private static func date(_ date: Date?) -> String {
        date.map { HTTPDate.text(CacheTime(seconds: Int64($0.timeIntervalSince1970))) } ?? "unknown"
    }
}
