import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandCaching

@Suite struct CacheAdmissionTests {
    private typealias World = CacheWorld
    private static let tag = ("ETag", "\"1\"")

    private func reason(
        _ control: String?, status: Int = 200, to request: HTTPCacheRequest = World.request(), shared: Bool = false,
        _ more: [(String, String)] = [tag]
    ) -> HTTPCacheAdmission.Reason? {
        World.admission(
            more + (control.map { [("Cache-Control", $0)] } ?? []), status: status, to: request,
            rules: HTTPCacheRules(isShared: shared)
        ).reason
    }

    @Test func rfc9111_3_onlyGetIsUnderstood() {
        #expect(reason("max-age=9") == nil)
        for method in [HTTPRequest.Method.head, .post, .put, .delete, .options, .patch] {
            #expect(reason("max-age=9", to: World.request(method)) == .method)
        }
    }

    /// 412 and 416 are about a condition or a range that the next request does not have.
    @Test(arguments: [100, 101, 103, 199, 206, 304, 412, 416, 600, 0, -1])
    func rfc9111_3_notFinalOrNotWhole(status: Int) {
        #expect(reason("public, max-age=9", status: status) == .status)
    }

    @Test(arguments: [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501])
    func rfc9110_15_1_heuristicallyCacheable(status: Int) {
        #expect(reason(nil, status: status) == nil)
    }

    @Test(arguments: [201, 202, 299, 302, 303, 307, 400, 401, 403, 429, 500, 502, 503, 504])
    func rfc9111_3_otherStatusesNeedALifetime(status: Int) {
        #expect(reason(nil, status: status) == .notCacheable)
        #expect(reason("max-age=9", status: status) == nil)
        #expect(reason("public", status: status) == nil)
        #expect(reason(nil, status: status, [Self.tag, ("Expires", World.date(60))]) == nil)
    }

    @Test func rfc9111_5_2_1_5_noStoreOfTheRequest() {
        #expect(reason("public, max-age=9", to: World.request(.get, "no-store")) == .requestNoStore)
    }

    @Test func rfc9111_5_2_2_5_noStoreOfTheResponse() {
        #expect(reason("public, max-age=9, no-store") == .responseNoStore)
        #expect(reason("no-store", shared: true) == .responseNoStore)
    }

    @Test func rfc9111_5_2_2_3_mustUnderstand() {
        #expect(reason("must-understand, no-store, max-age=9") == nil)
        #expect(reason("must-understand, no-store, max-age=9", status: 299) == .status)
        #expect(reason("must-understand, max-age=9", status: 418) == .status)
        #expect(reason("max-age=9", status: 418) == nil)
    }

    @Test func rfc9111_5_2_2_7_privateIsNotForSharedCaches() {
        #expect(reason("private, max-age=9") == nil)
        #expect(reason("private, max-age=9", shared: true) == .private)
        #expect(reason("private", status: 201) == nil)
        #expect(reason("s-maxage=9", status: 201) == .notCacheable)
        #expect(reason("s-maxage=9", status: 201, shared: true) == nil)
    }

    @Test func rfc9111_5_2_2_7_privateFieldsAreLeftOutBySharedCaches() throws {
        let fields = [
            ("Cache-Control", "max-age=9, private=\"Set-Cookie, X-A\""), ("Set-Cookie", "a=b"), ("X-A", "1"),
            ("X-B", "2"),
        ]
        let shared = try #require(World.admission(fields, rules: World.shared).entry)
        #expect(shared.headers[.setCookie] == nil && shared.headers.first { $0.name.canonicalName == "x-a" } == nil)
        #expect(shared.headers.contains { $0.name.canonicalName == "x-b" })
        let own = try #require(World.admission(fields).entry)
        #expect(own.headers[.setCookie] == "a=b")
        // Without these it would say something else.
        #expect(reason("max-age=9, private=\"vary\"", shared: true) == .private)
    }

    @Test func rfc9111_5_2_2_4_noCacheFieldsAreLeftOut() throws {
        let fields = [("Cache-Control", "max-age=9, no-cache=\"set-cookie\""), ("Set-Cookie", "a=b")]
        let entry = try #require(World.admission(fields).entry)
        #expect(entry.headers[.setCookie] == nil)
        #expect(World.decide([entry], at: 1).kind == "fresh")
        #expect(reason("max-age=9, no-cache=\"etag\"") == .responseNoStore)
    }

    @Test func rfc9111_3_5_authenticatedRequests() {
        let request = World.request(.get, nil, [("Authorization", "Basic x")])
        #expect(reason("max-age=9", to: request, shared: true) == .authorization)
        #expect(reason("max-age=9, private=\"x\"", to: request, shared: true) == .authorization)
        for control in ["public, max-age=9", "must-revalidate, max-age=9", "s-maxage=9"] {
            #expect(reason(control, to: request, shared: true) == nil, "\(control)")
        }
        #expect(reason("max-age=9", to: request) == nil)
    }

    @Test func rfc9111_4_1_varyOnAnythingIsNotKept() {
        #expect(reason("max-age=9", [("Vary", "*")]) == .varyAny)
        #expect(reason("max-age=9", [("Vary", "a b")]) == .varyAny)
        #expect(reason("max-age=9", [("Vary", "a, b")]) == nil)
    }

    @Test func rfc9111_3_whatIsOfNoUseIsNotKept() {
        #expect(reason(nil, []) == .notReusable)
        #expect(reason("max-age=0", []) == .notReusable)
        #expect(reason("no-cache, max-age=9", []) == .notReusable)
        #expect(reason("max-age=0, must-revalidate, stale-if-error=9", []) == .notReusable)
        #expect(reason("no-cache") == nil)
        #expect(reason("max-age=0, stale-if-error=9", []) == nil)
        #expect(reason("max-age=0, stale-while-revalidate=9", []) == nil)
        #expect(reason(nil, [("Last-Modified", World.date(-60))]) == nil)
        let rules = HTTPCacheRules(staleIfError: 60)
        #expect(World.admission([], rules: rules).reason == nil)
    }

    @Test func rfc9111_3_1_fieldsOfAConnectionAreLeftOut() throws {
        let fields = [
            ("Cache-Control", "max-age=9"), ("Connection", "close, X-Hop, cache-control"), ("X-Hop", "1"),
            ("Keep-Alive", "timeout=5"), ("Transfer-Encoding", "chunked"), ("Upgrade", "h2c"), ("TE", "x"),
            ("Proxy-Authenticate", "Basic"), ("Proxy-Authentication-Info", "x"), ("Proxy-Authorization", "x"),
            ("Proxy-Connection", "close"), ("X-End", "1"), ("x-end", "2"), ("Content-Type", "text/plain"),
        ]
        let entry = try #require(World.admission(fields).entry)
        let names = Set(entry.headers.map(\.name.canonicalName))
        #expect(names == ["cache-control", "x-end", "content-type", "date"])
        #expect(entry.headers.count == 5)
    }

    @Test func rfc9110_6_6_1_aMissingDateIsNoted() throws {
        let entry = try #require(World.admission([("Cache-Control", "max-age=9")], received: 3).entry)
        #expect(entry.headers[.date] == World.date(3))
        let dated = try #require(
            World.admission([("Cache-Control", "max-age=9"), ("Date", World.date(1))], received: 3).entry)
        #expect(dated.headers[.date] == World.date(1))
    }
}
