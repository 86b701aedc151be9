/// A server among several that answer the same requests.
public struct Endpoint: Sendable, Hashable {
    /// The origin, such as `https://10.0.0.1:8443` (scheme, host and port in lower case, an international name as
    /// A-labels), or the address. It identifies the endpoint.
    public let url: String
    /// The IP address that connections go to, while the request keeps its URL; `nil`: the request goes to ``url``.
    public let address: String?
    /// The share of the requests relative to other endpoints, 1...1000; 1 by default.
    public let weight: Int
    /// Where the server is, such as an availability zone; `nil`: unknown.
    public let zone: String?

    /// Makes an endpoint from an http or https URL; its path and query are ignored. Clamps the weight.
    ///
    /// Throws ``ErrandError/invalidURL`` where there is no host, ``ErrandError/unsupportedScheme`` for another scheme.
    public init(_ url: String, weight: Int = 1, zone: String? = nil) throws(ErrandError) {
        let reference = URLReference(url)
        guard let authority = reference.authority else {
            throw ErrandError.invalidURL.with(message: "the endpoint '\(url)' is no absolute URL")
        }
        guard ["http", "https"].contains(reference.scheme?.lowercased() ?? "") else {
            throw ErrandError.unsupportedScheme.with(message: "the endpoint '\(url)' is neither http nor https")
        }
        let place = authority.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false).last
        guard let first = place?.first, first != UInt8(ascii: ":") else {
            throw ErrandError.invalidURL.with(message: "the endpoint '\(url)' has no host")
        }
        self.url = reference.lookedUpOrigin
        address = nil
        self.weight = weight.clamped(1...1000)
        self.zone = zone
    }

    /// Makes an endpoint from an IPv4 or IPv6 address. Requests keep their URL: the port, the `Host` field and the name
    /// in the server's certificate are those of the base URL, and only connections go to the address (CURLOPT_RESOLVE).
    /// Clamps the weight.
    ///
    /// Throws ``ErrandError/invalidURL`` for another text.
    public init(address: String, weight: Int = 1, zone: String? = nil) throws(ErrandError) {
        guard IPAddress(address) != nil else {
            throw ErrandError.invalidURL.with(message: "'\(address)' is no IP address")
        }
        url = address.lowercased()
        self.address = url
        self.weight = weight.clamped(1...1000)
        self.zone = zone
    }
}

extension URLReference {
    /// ``origin`` with the host as the engine looks it up. URLs of requests have international names percent-encoded.
    var lookedUpOrigin: String {
        let text = origin
        guard text.utf8.contains(where: { $0 >= 0x80 || $0 == UInt8(ascii: "%") }), !text.contains("["),
            let host = try? HostName.lookedUp(by: self), let colon = text.lastIndex(of: ":")
        else { return text }
        var plain = self
        plain.authority = host + text[colon...]
        return plain.origin
    }
}
