/// The status codes of RFC 9110 15, as caches treat them.
enum StatusCacheability {
    /// RFC 9110 15.1. 206 is heuristically cacheable too, but partial responses are not stored here.
    static func isHeuristicallyCacheable(_ statusCode: Int) -> Bool {
        switch statusCode {
        case 200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501: true
        default: false
        }
    }

    /// Whether the cache implements all that a response with that status requires (RFC 9111 3): true for the final
    /// status codes of RFC 9110, except those that need ranges or conditions.
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
