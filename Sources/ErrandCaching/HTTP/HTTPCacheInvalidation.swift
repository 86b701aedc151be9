package import HTTPTypes

/// Which stored responses a request invalidates (RFC 9111 4.4).
package enum HTTPCacheInvalidation {
    /// RFC 9110 9.2.1. An unknown method counts as unsafe.
    package static func isSafe(_ method: HTTPRequest.Method) -> Bool {
        method == .get || method == .head || method == .options || method == .trace
    }

    /// Absolute URLs without fragments, each once: the target URL, and the URLs in `Location` and `Content-Location` on
    /// the same origin. A response must not invalidate the responses of another origin.
    package static func urls(
        method: HTTPRequest.Method, url: String, statusCode: Int, headers: HTTPFields
    ) -> [String] {
        guard !isSafe(method), (200...399).contains(statusCode) else { return [] }
        var target = URLReference(url)
        target.fragment = nil
        var urls = [target.text]
        for name in [HTTPField.Name.location, .contentLocation] {
            guard let value = headers[fields: name].first.map(PercentEncoding.text), !value.isEmpty,
                let encoded = try? PercentEncoding.url(value)
            else { continue }
            var other = target.resolving(URLReference(encoded))
            other.fragment = nil
            guard other.authority != nil, other.origin == target.origin, !urls.contains(other.text) else { continue }
            urls.append(other.text)
        }
        return urls
    }
}
