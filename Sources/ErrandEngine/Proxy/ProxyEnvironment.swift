import Glibc

/// The meaning of ``ConnectionOptions/Proxy/environment``, from the variables that the engine reads.
package struct ProxyEnvironment: Sendable {
    /// For `http` URLs: `http_proxy`, otherwise `all_proxy`; the scheme may be left out.
    var proxy: String?
    /// `no_proxy` in libcurl's syntax.
    var bypass: String?
    /// For `https` URLs: `https_proxy`, otherwise `all_proxy`.
    var secureProxy: String?

    /// Read once, as the engine does.
    package static let present = ProxyEnvironment(
        // Not `HTTP_PROXY`, which a CGI server sets from a header field of the request.
        proxy: variable("http_proxy") ?? variable("all_proxy") ?? variable("ALL_PROXY"),
        bypass: ProxyBypass.fromEnvironment(),
        secureProxy: variable("https_proxy") ?? variable("HTTPS_PROXY") ?? variable("all_proxy")
            ?? variable("ALL_PROXY"))

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}

extension ConnectionOptions {
    /// Whether a request in clear text to this origin goes through an HTTP proxy; only such a proxy sends a 407. In
    /// doubt false: leaving a proxy's challenge unanswered yields a 407, but answering an origin would give it the
    /// proxy's password.
    package func passesHTTPProxy(to origin: String, by environment: ProxyEnvironment) -> Bool {
        // A Unix socket replaces the network, and libcurl supports no proxy behind one (CURLOPT_UNIX_SOCKET_PATH).
        if unixSocketPath?.value != nil { return false }
        let address: String
        let bypass: String?
        switch proxy {
        case .direct, nil:
            return false
        case .url(let url, let entries):
            do throws(ErrandError) {
                bypass = try ProxyBypass.list(entries)
            } catch {
                // The engine refuses such a request, so it is not sent.
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

    /// Proxies of other schemes are SOCKS proxies, which do not speak HTTP.
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
