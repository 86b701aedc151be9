import HTTPTypes

/// A request, as far as a cache looks at it.
struct HTTPCacheRequest: Sendable {
    let method: HTTPRequest.Method
    /// Absolute.
    let url: String
    let headers: HTTPFields
    let control: CacheControl

    init(method: HTTPRequest.Method, url: String, headers: HTTPFields) {
        self.method = method
        self.url = url
        self.headers = headers
        control = .request(headers)
    }

    /// Whether it asks for a part, or on a condition of its own.
    var isConditionalOrPartial: Bool {
        headers.contains(.range) || headers.contains(.ifRange) || headers.contains(.ifMatch)
            || headers.contains(.ifNoneMatch) || headers.contains(.ifModifiedSince)
            || headers.contains(.ifUnmodifiedSince)
    }
}
