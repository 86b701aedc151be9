import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandCaching
@testable import ErrandEngine
@testable import ErrandModel

/// ``CachePolicy/http`` in requests. What is decided is tested beside the decisions; here it is done.
@Suite(.timeLimit(.minutes(20))) struct HTTPCachingTests {
    private func get(_ path: String = "x", _ headers: HTTPFields = [:]) -> GetCached {
        GetCached(path: path, cache: .http, headers: headers)
    }

    @Test func aFreshResponseIsServedWithItsAge() async throws {
        try await CachingBench(answer: {
            .response(
                status: 200, headers: ["Cache-Control": "max-age=60", "Age": "5", "X-A": "b", "Connection": "close"],
                body: "\($1)")
        }).run { bench async throws in
            let first = await bench.finished(get())
            #expect(first.response?.cacheStatus == "errand; fwd=uri-miss; stored")
            bench.clock.advance(10)
            let hit = await bench.finished(get())
            #expect(hit.isFromCache)
            #expect(hit.value == "1")
            #expect(hit.response?.headers[values: .age] == ["15"])
            #expect(hit.response?.header(.connection) == nil)
            #expect(hit.response?.cacheStatus == "errand; hit; ttl=45")
            #expect(bench.sent == 1)
        }
    }

    @Test func whatIsStaleIsConfirmedByATagAnd304() async throws {
        try await CachingBench(answer: { description, number in
            guard description.headers[.ifNoneMatch] == "\"t\"" else {
                return .response(
                    status: 200, headers: ["Cache-Control": "max-age=60", "ETag": "\"t\"", "X-N": "1"], body: "body")
            }
            return .response(
                status: 304, headers: ["Cache-Control": "max-age=10", "ETag": "\"t\"", "X-N": "\(number)"])
        }).run { bench async throws in
            _ = try await bench.client.run(get())
            bench.clock.advance(60)
            let merged = await bench.finished(get())
            #expect(merged.value == "body")
            #expect(!merged.isFromCache)
            #expect(merged.response?.statusCode == 200)
            #expect(merged.response?.headers[values: "X-N"] == ["2"])
            #expect(merged.response?.cacheStatus == "errand; fwd=stale; fwd-status=304; ttl=10; stored")
            bench.clock.advance(9)
            #expect(await bench.finished(get()).isFromCache)
            bench.clock.advance(1)
            #expect(await bench.finished(get()).isFromCache == false)
            #expect(bench.sent == 3)
        }
    }

    @Test func a200TakesThePlaceOfWhatIsStored() async throws {
        try await CachingBench(answer: {
            .response(
                status: 200, headers: ["Cache-Control": "no-cache", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"],
                body: "\($1)")
        }).run { bench async throws in
            _ = try await bench.client.run(get())
            let second = await bench.finished(get())
            #expect(bench.stub.submitted[1].headers[.ifModifiedSince] == "Sun, 06 Nov 1994 08:49:37 GMT")
            #expect(second.value == "2")
            #expect(second.response?.cacheStatus == "errand; fwd=stale; stored")
        }
    }

    @Test func a304AboutSomethingElseIsAskedAgainWithoutConditions() async throws {
        try await CachingBench(answer: { description, number in
            description.headers[.ifNoneMatch] == nil
                ? .response(
                    status: 200, headers: ["Cache-Control": "no-cache", "ETag": "\"\(number)\""], body: "\(number)")
                : .response(status: 304, headers: ["ETag": "\"other\""])
        }).run { bench async throws in
            _ = try await bench.client.run(get())
            let again = await bench.finished(get())
            #expect(again.value == "3")
            #expect(again.attempts.count == 1 && again.resends == [.revalidation])
            #expect(bench.stub.submitted.map { $0.headers[.ifNoneMatch] } == [nil, "\"1\"", nil])
        }
    }

    @Test func noStoreStoresNothingAndOneThatComesLaterTakesAway() async throws {
        try await CachingBench(answer: {
            .response(
                status: 200, headers: ["Cache-Control": $1 == 1 ? "max-age=60" : "no-store"], body: "\($1)")
        }).run { bench async throws in
            _ = try await bench.client.run(get())
            bench.clock.advance(60)
            #expect(try await bench.client.run(get()) == "2")
            #expect(try await bench.client.cache.statistics().entries == 0)
        }
    }

    @Test func varyKeepsSixteenApart() async throws {
        try await CachingBench(answer: {
            .response(
                status: 200, headers: ["Cache-Control": "max-age=60", "Vary": "Accept-Language"], body: "\($1)")
        }).run { bench async throws in
            func get(_ language: Int) -> GetCached { self.get("x", [.acceptLanguage: "l\(language)"]) }
            for language in 1...17 { #expect(try await bench.client.run(get(language)) == "\(language)") }
            for language in 2...17 { #expect(try await bench.client.run(get(language)) == "\(language)") }
            let first = await bench.finished(get(1))
            #expect(first.value == "18")
            #expect(first.response?.cacheStatus == "errand; fwd=vary-miss; stored")
            // 16 and what leads to them; the one that was dropped is not left behind.
            #expect(try await bench.client.cache.statistics().entries == 17)
            bench.client.cache.remove(try #require(await bench.client.cacheKey(for: get(1))))
            #expect(try await bench.client.cache.statistics().entries == 0)
        }
    }

    @Test func aResponseWithoutVaryTakesThePlaceOfAllVariants() async throws {
        try await CachingBench(answer: { description, number in
            var fields: HTTPFields = ["Cache-Control": "max-age=60"]
            if number < 3 { fields[.vary] = "Accept-Language" }
            return .response(status: 200, headers: fields, body: "\(number)")
        }).run { bench async throws in
            for language in ["a", "b", "c"] { _ = try await bench.client.run(get("x", [.acceptLanguage: language])) }
            #expect(try await bench.client.cache.statistics().entries == 1)
            #expect(try await bench.client.run(get("x", [.acceptLanguage: "a"])) == "3")
        }
    }

    @Test func whatIsNotCacheablePassesAndSaysSo() async throws {
        try await CachingBench().run { bench async throws in
            let post = await bench.finished(GetCached(cache: .http, method: .post))
            #expect(post.response?.cacheStatus == "errand; fwd=method")
            let body = await bench.finished(GetCached(cache: .http, body: .bytes([1])))
            #expect(body.response?.cacheStatus == "errand; fwd=bypass")
            let only = await bench.finished(GetCached(cache: .http(reading: .cacheOnly), method: .post))
            #expect(only.error?.cacheMissReason == .notCached)
        }
    }

    @Test func aStarIsNeverStored() async throws {
        try await CachingBench(answer: {
            .response(
                status: 200, headers: ["Cache-Control": "max-age=60", "Vary": "*"], body: "\($1)")
        }).run { bench async throws in
            #expect(try await bench.client.run(get()) == "1")
            #expect(try await bench.client.run(get()) == "2")
        }
    }

    @Test func anothersResponseIsNeverServed() async throws {
        let answer: CachingBench.Answer = { description, _ in
            .response(
                status: 200, headers: ["Cache-Control": "max-age=60"],
                body: "\(description.headers[.authorization] ?? "") \(description.headers[.cookie] ?? "")")
        }
        try await CachingBench(answer: answer).run { bench async throws in
            for _ in 1...2 {
                for user in ["ada", "bob"] {
                    #expect(try await bench.client.run(get("x", [.authorization: user])) == "\(user) ")
                    #expect(try await bench.client.run(get("x", [.cookie: user])) == " \(user)")
                }
            }
            #expect(bench.sent == 4)
        }
    }

    /// RFC 9111 3.5.
    @Test func aSharedCacheKeepsOfCredentialsWhatMayBeTold() async throws {
        try await CachingBench(
            isShared: true,
            answer: { description, number in
                let control = description.url.hasSuffix("public") ? "public, max-age=60" : "max-age=60"
                return .response(status: 200, headers: ["Cache-Control": control], body: "\(number)")
            }
        ).run { bench async throws in
            #expect(try await bench.client.run(get("x", [.authorization: "a"])) == "1")
            #expect(try await bench.client.run(get("x", [.authorization: "b"])) == "2")
            #expect(try await bench.client.run(get("public", [.authorization: "a"])) == "3")
            #expect(try await bench.client.run(get("public", [.authorization: "b"])) == "3")
        }
    }

    /// RFC 9111 3.5. With Digest it is libcurl that says who asks.
    @Test(arguments: ["max-age=60", "public, max-age=60"])
    func aSharedCacheKeepsNothingThatDigestAskedFor(_ control: String) async throws {
        let isPublic = control.hasPrefix("public")
        let fields: HTTPFields = ["Cache-Control": control, "Vary": isPublic ? "Authorization" : "Accept"]
        try await CachingBench(
            isShared: true,
            answer: { _, number in
                .response(status: 200, headers: fields, body: "\(number)")
            }
        ).run { bench async throws in
            var ada = get()
            ada.authorization = .digest(username: "ada", password: "a")
            #expect(try await bench.client.run(ada) == "1")
            #expect(try await bench.client.run(get()) == "2")
        }
    }

    /// A range beyond the end, or a condition of one's own, says nothing about the next request.
    @Test(arguments: [412, 416]) func anAnswerToAConditionTakesNobodysPlace(_ status: Int) async throws {
        try await CachingBench(answer: { description, number in
            .response(
                status: number == 2 ? status : 200, headers: ["Cache-Control": "max-age=3600"], body: "\(number)")
        }).run { bench async throws in
            #expect(try await bench.client.run(get()) == "1")
            let field: HTTPFields = status == 416 ? [.range: "bytes=99-"] : [.ifMatch: "\"old\""]
            let refused = await bench.finished(get("x", field))
            #expect(refused.error == .statusNotAccepted)
            #expect(try await bench.client.run(get()) == "1")
        }
    }

    /// The jar's cookies are libcurl's: which of them a response depends on cannot be known here.
    @Test func whatDependsOnTheJarsCookiesIsNotStored() async throws {
        let answer: CachingBench.Answer = {
            .response(status: 200, headers: ["Cache-Control": "max-age=60", "Vary": "Cookie"], body: "\($1)")
        }
        try await CachingBench(answer: answer, change: { $0.cookies = .memory }).run { bench async throws in
            #expect(try await bench.client.run(get()) == "1")
            #expect(try await bench.client.run(get()) == "2")
            let own = GetCached(cache: .http, options: .withoutCookies)
            #expect(try await bench.client.run(own) == "3")
            #expect(try await bench.client.run(own) == "3")
        }
    }

    @Test func aClockThatWasSetBackKeepsNothingForever() async throws {
        try await CachingBench(answer: {
            .response(status: 200, headers: ["Cache-Control": "max-age=60"], body: "\($1)")
        }).run { bench async throws in
            _ = try await bench.client.run(get())
            bench.clock.advance(-30)
            #expect(try await bench.client.run(get()) == "1")
            bench.clock.advance(-86_400)
            #expect(try await bench.client.run(get()) == "2")
        }
    }

    /// RFC 9110 15.5.5, 15.5.11: what is gone is not served once the server has said so.
    @Test(arguments: [404, 410]) func whatIsFoundGoneIsNotStoredAnyMore(_ status: Int) async throws {
        try await CachingBench(answer: {
            .response(
                status: $1 == 1 ? 200 : status, headers: ["Cache-Control": $1 == 1 ? "max-age=60" : "no-store"],
                body: "\($1)")
        }).run { bench async throws in
            _ = try await bench.client.run(get())
            _ = await bench.finished(GetCached(cache: .http(reading: .networkOnly)))
            let next = await bench.finished(get())
            #expect(!next.isFromCache)
            #expect(next.response == nil || next.response?.statusCode == status)
        }
    }

    @Test func staleWhileRevalidateServesAtOnceAndAsksOnce() async throws {
        try await CachingBench(answer: { _, number in
            number == 1
                ? .response(
                    status: 200, headers: ["Cache-Control": "max-age=60, stale-while-revalidate=30", "ETag": "\"t\""],
                    body: "old") : .hold
        }).run { bench async throws in
            _ = try await bench.client.run(get())
            bench.clock.advance(61)
            for _ in 0..<5 {
                let stale = await bench.finished(get())
                #expect(stale.value == "old")
                #expect(stale.isFromCache)
                #expect(stale.response?.cacheStatus == "errand; hit; ttl=-1")
            }
            #expect(bench.stub.open.count == 1)
            #expect(bench.stub.submitted.last?.headers[.ifNoneMatch] == "\"t\"")
            let fresh = Response(statusCode: 200, headers: ["Cache-Control": "max-age=60"], body: Array("new".utf8))
            #expect(bench.stub.complete(bench.stub.open[0], with: .response(fresh)))
            try await waitUntil("no lookup of the client runs") { bench.client.carrier.count <= 0 }
            let new = await bench.finished(get())
            #expect(new.value == "new")
            #expect(new.isFromCache)
            // One that is under way when the client ends, ends with it.
            bench.clock.advance(60)
        }
    }

    @Test func bothValuesAreOneRequestToTheServer() async throws {
        try await CachingBench(answer: { _, number in
            .response(
                status: 200, headers: ["Cache-Control": "max-age=1, stale-while-revalidate=30"], body: "\(number)")
        }).run { bench async throws in
            _ = try await bench.client.run(get())
            bench.clock.advance(2)
            var values: [String] = []
            for try await value in bench.client.values(of: get()) { values.append(value) }
            #expect(values == ["1", "2"])
            #expect(bench.sent == 2)
        }
    }

    @Test func aRevalidationEndsWithItsClient() async throws {
        try await CachingBench(answer: { _, number in
            number == 1
                ? .response(
                    status: 200, headers: ["Cache-Control": "max-age=1, stale-while-revalidate=30"], body: "old")
                : .hold
        }).run { bench async throws in
            _ = try await bench.client.run(get())
            bench.clock.advance(2)
            _ = try await bench.client.run(get())
            #expect(bench.stub.open.count == 1)
        }
    }

    @Test func aHEADIsAnsweredByWhatGETHasStored() async throws {
        try await CachingBench(answer: {
            .response(
                status: 200, headers: ["Cache-Control": "max-age=60", "Content-Length": "1"], body: "\($1)")
        }).run { bench async throws in
            _ = try await bench.client.run(get())
            let head = await bench.finished(GetCached(cache: .http, method: .head))
            #expect(head.isFromCache)
            #expect(head.response?.body.count == 0)
            #expect(head.response?.header(.contentLength) == "1")
            #expect(bench.sent == 1)
        }
    }

    @Test func aHEADThatSaysOtherwiseTakesAway() async throws {
        try await CachingBench(answer: { description, number in
            .response(
                status: 200, headers: ["Cache-Control": "max-age=60", "ETag": "\"\(number)\""],
                body: description.method == .head ? "" : "\(number)")
        }).run { bench async throws in
            _ = try await bench.client.run(get())
            bench.clock.advance(60)
            _ = await bench.finished(GetCached(cache: .http, method: .head))
            #expect(try await bench.client.cache.statistics().entries == 0)
        }
    }

    /// RFC 9111 5.2.1.7.
    @Test func onlyIfCachedIsA504WhereNothingIs() async throws {
        try await CachingBench(answer: {
            .response(
                status: 200, headers: ["Cache-Control": "max-age=60"], body: "\($1)")
        }).run { bench async throws in
            let only = GetCached(
                cache: .http, headers: [.cacheControl: "only-if-cached"], acceptedStatusCodes: .any)
            let none = await bench.finished(only)
            #expect(none.response?.statusCode == 504)
            #expect(!none.isFromCache)
            var quiet = only
            quiet.cache = .http(reading: .cacheOnly)
            #expect(await bench.finished(quiet).error?.cacheMissReason == .notStored)
            _ = try await bench.client.run(get())
            #expect(await bench.finished(only).value == "1")
            #expect(bench.sent == 1)
        }
    }

    @Test func everyHopIsLookedUpByItsOwnURL() async throws {
        try await CachingBench(answer: { description, number in
            description.url.hasSuffix("from")
                ? .response(status: 301, headers: ["Location": "/x", "Cache-Control": "max-age=100"])
                : .response(status: 200, headers: ["Cache-Control": "max-age=50"], body: "\(number)")
        }).run { bench async throws in
            let recorder = EventRecorder()
            #expect(try await bench.client.run(get("from")) == "2")
            let request = bench.client.request(get("from"))
            request.addAccessory(recorder)
            #expect(await bench.finished(request).value == "2")
            #expect(request.isFromCache)
            #expect(request.attempts.map(\.url) == ["http://test/from", "http://test/x"])
            #expect(
                recorder.names == [
                    "willStart", "queued", "cacheHit", "redirected 301", "queued", "cacheHit", "willStop", "didStop",
                ])
            bench.clock.advance(50)
            #expect(try await bench.client.run(get("from")) == "3")
            #expect(bench.sent == 3)
        }
    }

    @Test func rangesAndTheUsersOwnConditionsPassBy() async throws {
        try await CachingBench(answer: { description, number in
            description.headers[.range] != nil
                ? .response(status: 206, headers: ["Content-Range": "bytes 0-0/9"], body: "\(number)")
                : .response(status: 200, headers: ["Cache-Control": "max-age=60", "ETag": "\"t\""], body: "\(number)")
        }).run { bench async throws in
            #expect(try await bench.client.run(get()) == "1")
            let part = await bench.finished(get("x", [.range: "bytes=0-0"]))
            #expect(part.response?.statusCode == 206)
            #expect(part.response?.cacheStatus == "errand; fwd=bypass")
            #expect(await bench.finished(get("x", [.ifNoneMatch: "\"t\""])).value == "3")
            #expect(bench.stub.submitted[2].headers[.ifNoneMatch] == "\"t\"")
        }
    }

    /// RFC 9111 4.4, by requests without a policy too.
    @Test func unsafeMethodsMakeVoidWhatIsStored() async throws {
        try await CachingBench(answer: { description, number in
            description.method == .get
                ? .response(status: 200, headers: ["Cache-Control": "max-age=60"], body: "\(number)")
                : .response(
                    status: description.url.hasSuffix("fails") ? 500 : 201,
                    headers: ["Location": "/y", "Content-Location": "http://other/z"])
        }).run { bench async throws in
            for path in ["x", "y", "fails"] { _ = try await bench.client.run(get(path)) }
            _ = try await bench.client.run(get("x", [.authorization: "a"]))
            _ = await bench.finished(GetCached(path: "fails", method: .put))
            #expect(try await bench.client.run(get("fails")) == "3")
            _ = try await bench.client.run(GetCached(method: .post))
            #expect(try await bench.client.run(get("x")) == "7")
            #expect(try await bench.client.run(get("x", [.authorization: "a"])) == "8")
            #expect(try await bench.client.run(get("y")) == "9")
            #expect(try await bench.client.run(get("fails")) == "3")
        }
    }

    @Test func whatAnUnsafeMethodMakesVoidIsNotFoundInASlowStoreEither() async throws {
        let store = HeldStore()
        try await CachingBench(
            store: store,
            answer: { description, number in
                description.method == .get
                    ? .response(status: 200, headers: ["Cache-Control": "max-age=60"], body: "\(number)")
                    : .response(status: 204)
            }
        ).run { bench async throws in
            _ = try await bench.client.run(get())
            await bench.client.cache.flush()
            store.hold()
            _ = try await bench.client.run(GetCached(method: .delete))
            try await store.entered()
            async let again = bench.client.run(get())
            store.release()
            #expect(try await again == "3")
        }
    }

    /// The same request, sent while the store is busy with the first response: it waits for the index of variants, which is
    /// made of what the store has.
    @Test func whatVariesIsFoundAtOnceInASlowStore() async throws {
        let store = HeldStore()
        let headers: HTTPFields = ["Cache-Control": "max-age=60", "Vary": "Accept-Language"]
        try await CachingBench(
            store: store,
            answer: { _, number in
                // The next call is the first write.
                if number == 1 { store.hold() }
                return .response(status: 200, headers: headers, body: "\(number)")
            }
        ).run { bench async throws in
            let first = await bench.finished(get())
            #expect(first.response?.cacheStatus?.contains("stored") == true)
            try await store.entered()
            let second = bench.client.request(get())
            async let ended = bench.finished(second)
            try await waitUntil("the second lookup runs") { bench.client.carrier.count == 1 }
            store.release()
            #expect(await ended.value == "1")
            #expect(bench.sent == 1)
        }
    }
}
