/// Several servers that answer the requests to one base URL: which ones, and how requests are distributed over them.
///
/// ```swift
/// configuration.endpoints = [
///     try ServiceEndpoints(of: "https://api.example.com", .dns())
/// ]
/// ```
///
/// Each attempt gets its own endpoint. A retry or a hedge goes to another endpoint than the attempts before, if another
/// one may be used. Only requests whose URL has the origin of ``origin`` are distributed.
///
/// An endpoint with a URL replaces scheme, host and port of the request's URL, also in `Host` and in the certificate
/// that is expected. An endpoint with an address leaves the URL as it is. Credentials and client certificates are those
/// of the base URL in both cases. Cookies follow the URL that was sent. A redirect is resolved against the URL of the
/// request. A redirect to the endpoint's own origin leads to another origin: credentials are dropped, and under an https
/// base URL a redirect to http is refused. Let the servers send relative redirects.
public struct ServiceEndpoints: Sendable {
    /// Scheme, host and port of the base URL, in lower case, with an international name as A-labels.
    public let origin: String
    /// How endpoints are chosen, and which ones are left out.
    public let policy: EndpointPolicy
    /// The key of a request, for ``EndpointPolicy/Balancing/ringHash(_:)``. Called on the thread that sends the request.
    public let key: (@Sendable (RequestDescription) -> String?)?
    package let source: EndpointSource
    let host: String
    let port: Int

    /// - Parameters:
    ///   - baseURL: an http or https URL; its path and query are ignored.
    ///   - source: the list of endpoints.
    ///   - policy: power of two choices by default.
    ///   - key: the key of a request for the hash ring; by default the URL's path.
    ///
    /// Throws ``ErrandError/invalidURL`` where the URL has no host, ``ErrandError/unsupportedScheme`` for another scheme.
    public init(
        of baseURL: String, _ source: EndpointSource, policy: EndpointPolicy = EndpointPolicy(),
        key: (@Sendable (RequestDescription) -> String?)? = nil
    ) throws(ErrandError) {
        origin = try Endpoint(baseURL).url
        self.policy = policy
        self.source = source
        self.key = key
        let authority = URLReference(origin).authority ?? ""
        let colon = authority.lastIndex(of: ":") ?? authority.endIndex
        host = String(authority[..<colon])
        port = Int(authority[colon...].dropFirst()) ?? 0
    }
}
