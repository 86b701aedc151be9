/// What RFC 9110 15 says of status codes to caches.
enum StatusCacheability {
    /// RFC 9110 15.1. 206 is one too, but parts are not kept here.
    static func isHeuristicallyCacheable(_ statusCode: Int) -> Bool {
        switch statusCode {
        case 200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501: true
        default: false
        }
    }

    /// Whether all is done that a response of that status asks of a cache (RFC 9111 3): the final ones of RFC 9110, but
    /// for those that need ranges or conditions.
    static func isUnderstood(_ statusCode: Int) -> Bool {
        switch statusCode {
        case 200...205, 300...303, 305, 307, 308, 400...411, 413...415, 417, 421, 422, 426, 500...505: true
        default: false
        }
    }

    /// RFC 5861 4.
    static func isServerFailure(_ statusCode: Int) -> Bool {
        switch statusCode {
        case 500, 502, 503, 504: true
        default: false
        }
    }
}
