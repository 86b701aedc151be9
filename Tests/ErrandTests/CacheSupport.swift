import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandCaching
@testable import ErrandModel

/// Requests, responses and times for the cache's decisions: the server's clock is the cache's, and all begins at `start`.
enum CacheWorld {
    /// Sun, 06 Nov 1994 08:49:37 GMT.
    static let start = CacheTime(seconds: 784_111_777)
    static let url = "http://a/x"
    static let identity: VaryValues.Digest = { $0 }

    static func at(_ seconds: Int64) -> CacheTime {
        start + seconds * 1000
    }

    /// As it stands in a field.
    static func date(_ seconds: Int64) -> String {
        HTTPDate.text(at(seconds))
    }

    static func fields(_ pairs: [(String, String)]) -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in pairs {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        return fields
    }

    static func request(
        _ method: HTTPRequest.Method = .get, _ control: String? = nil, _ pairs: [(String, String)] = []
    ) -> HTTPCacheRequest {
        var headers = fields(pairs)
        if let control { headers[.cacheControl] = control }
        return HTTPCacheRequest(method: method, url: url, headers: headers)
    }

    /// A response sent and received at `start`, unless told otherwise.
    static func entry(
        _ pairs: [(String, String)], status: Int = 200, requested: Int64 = 0, received: Int64 = 0,
        for request: HTTPCacheRequest = request()
    ) -> HTTPCacheEntry {
        let headers = fields(pairs)
        return HTTPCacheEntry(
            statusCode: status, headers: headers, requestTime: at(requested), responseTime: at(received),
            vary: VaryValues(
                names: VaryValues.names(headers) ?? [], request: request.headers, digest: identity))
    }

    static func admission(
        _ pairs: [(String, String)], status: Int = 200, to request: HTTPCacheRequest = request(),
        rules: HTTPCacheRules = HTTPCacheRules(), received: Int64 = 0
    ) -> HTTPCacheAdmission.Verdict {
        HTTPCacheAdmission.verdict(
            request, statusCode: status, headers: fields(pairs), requestTime: at(0), responseTime: at(received),
            rules: rules, digest: identity)
    }

    static func decide(
        _ request: HTTPCacheRequest, _ stored: [HTTPCacheEntry], at seconds: Int64,
        rules: HTTPCacheRules = HTTPCacheRules()
    ) -> HTTPCacheDecision {
        HTTPCacheLookup.decide(request, stored: stored, now: at(seconds), rules: rules, digest: identity)
    }

    static func reply(
        _ decision: HTTPCacheDecision, _ request: HTTPCacheRequest, _ stored: [HTTPCacheEntry],
        _ status: Int, _ pairs: [(String, String)], at seconds: Int64, rules: HTTPCacheRules = HTTPCacheRules()
    ) -> HTTPCacheReply {
        HTTPCacheReply.after(
            decision, request: request, stored: stored, statusCode: status, headers: fields(pairs),
            requestTime: at(seconds), responseTime: at(seconds), rules: rules, digest: identity)
    }

    static func decide(_ stored: [HTTPCacheEntry], at seconds: Int64, rules: HTTPCacheRules = HTTPCacheRules())
        -> HTTPCacheDecision
    {
        decide(request(), stored, at: seconds, rules: rules)
    }

    static func reply(
        _ decision: HTTPCacheDecision, _ stored: [HTTPCacheEntry], _ status: Int, _ pairs: [(String, String)],
        at seconds: Int64
    ) -> HTTPCacheReply {
        reply(decision, request(), stored, status, pairs, at: seconds)
    }

    static let shared = HTTPCacheRules(isShared: true)
}

extension HTTPCacheAdmission.Verdict {
    /// `nil`: it is kept.
    var reason: HTTPCacheAdmission.Reason? {
        if case .refuse(let reason) = self { reason } else { nil }
    }

    var entry: HTTPCacheEntry? {
        if case .store(let entry) = self { entry } else { nil }
    }
}

extension HTTPCacheDecision {
    /// The kind alone.
    var kind: String {
        switch self {
        case .fresh: "fresh"
        case .stale(_, _, let revalidation): revalidation == nil ? "stale" : "stale+revalidate"
        case .revalidate: "revalidate"
        case .miss: "miss"
        case .unsatisfiable: "unsatisfiable"
        }
    }
}
