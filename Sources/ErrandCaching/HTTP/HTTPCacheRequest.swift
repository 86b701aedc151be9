import HTTPTypes

/// The parts of a request that a cache uses.
struct HTTPCacheRequest: Sendable {
    let method: HTTPRequest.Method
    /// Absolute.
    let url: String
    let headers: HTTPFields
    /// Whether libcurl answers a challenge with credentials that are not in `headers`.
    let answersChallenges: Bool
    let control: CacheControl

    init(method: HTTPRequest.Method, url: String, headers: HTTPFields, answersChallenges: Bool = false) {
        self.method = method
        self.url = url
        self.headers = headers
        self.answersChallenges = answersChallenges
        control = .request(headers)
    }

    /// The request that an entry is validated for. A 304 to a HEAD also concerns the response to the GET.
    var asGet: HTTPCacheRequest {
        guard method != .get else { return self }
        return HTTPCacheRequest(method: .get, url: url, headers: headers, answersChallenges: answersChallenges)
    }

    /// Whether the request has credentials in the sense of RFC 9111 3.5.
    var isAuthorized: Bool { answersChallenges || headers.contains(.authorization) }

    /// Whether the request has a range or conditions of its own.
    var isConditionalOrPartial: Bool {
        headers.contains(.range) || headers.contains(.ifRange) || headers.contains(.ifMatch)
            || headers.contains(.ifNoneMatch) || headers.contains(.ifModifiedSince)
            || headers.contains(.ifUnmodifiedSince)
    }
}
