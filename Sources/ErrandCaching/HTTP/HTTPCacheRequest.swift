import HTTPTypes

/// A request, as far as a cache looks at it.
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

    /// What an entry is validated for: a HEAD, too, that brings a 304 is about the response to the GET.
    var asGet: HTTPCacheRequest {
        guard method != .get else { return self }
        return HTTPCacheRequest(method: .get, url: url, headers: headers, answersChallenges: answersChallenges)
    }

    /// Whether it says who asks, as RFC 9111 3.5 means it.
    var isAuthorized: Bool { answersChallenges || headers.contains(.authorization) }

    /// Whether it asks for a part, or on a condition of its own.
    var isConditionalOrPartial: Bool {
        headers.contains(.range) || headers.contains(.ifRange) || headers.contains(.ifMatch)
            || headers.contains(.ifNoneMatch) || headers.contains(.ifModifiedSince)
            || headers.contains(.ifUnmodifiedSince)
    }
}
