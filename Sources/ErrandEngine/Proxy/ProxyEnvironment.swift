import Glibc

/// What ``ConnectionOptions/Proxy/environment`` stands for where a URL is http's, by the variables the engine reads.
package struct ProxyEnvironment: Sendable {
    /// `http_proxy`, or else `all_proxy`; the scheme may be left out.
    var proxy: String?
    /// `no_proxy`, as libcurl is told it.
    var bypass: String?

    /// Read once, as the engine does.
    package static let present = ProxyEnvironment(
        // Not `HTTP_PROXY`, which is what a CGI server sets from a field of the request's.
        proxy: variable("http_proxy") ?? variable("all_proxy") ?? variable("ALL_PROXY"),
        bypass: ProxyBypass.fromEnvironment())

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}

extension ConnectionOptions {
    /// Whether a request in clear text to this origin passes a proxy that speaks HTTP, as only such a one says 407. In
    /// doubt no: a proxy that goes unanswered is a status 407, but an origin that is answered has the proxy's password.
    package func passesHTTPProxy(to origin: String, by environment: ProxyEnvironment) -> Bool {
        // A socket stands for the network, and libcurl knows no proxy behind one (CURLOPT_UNIX_SOCKET_PATH).
        if let unixSocketPath, !unixSocketPath.isEmpty { return false }
        let address: String
        let bypass: String?
        switch proxy {
        case .direct, nil:
            return false
        case .url(let url, let entries):
            do throws(ErrandError) {
                bypass = try ProxyBypass.list(entries)
            } catch {
                // Such a request is not sent.
                return false
            }
            address = url
        case .environment:
            guard let proxy = environment.proxy else { return false }
            address = proxy
            bypass = environment.bypass
        }
        guard Self.speaksHTTP(address) else { return false }
        guard let bypass, !bypass.isEmpty else { return true }
        guard let target = ProxyTarget(origin: origin) else { return false }
        return !target.isAmong(bypass)
    }

    /// Those of other schemes are SOCKS proxies, which know nothing of HTTP.
    private static func speaksHTTP(_ proxy: String) -> Bool {
        let url = URLReference(proxy)
        // `host:port`.
        guard url.authority != nil else { return true }
        switch url.scheme?.lowercased() {
        case "http", "https": return true
        default: return false
        }
    }
}
