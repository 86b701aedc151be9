import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandCaching
@testable import ErrandModel

/// Whatever servers, requests and clocks say.
@Suite struct CacheInvariantTests {
    private typealias World = CacheWorld

    /// Messages made of what the rules look at, some of it nonsense.
    private struct Maker {
        var random: SeededGenerator

        mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

        mutating func pick<T>(_ choices: [T], or fallback: T) -> T { choices.randomElement(using: &random) ?? fallback }

        mutating func number() -> String {
            pick(["0", "1", "5", "30", "99999999999", "x", "-1", "\"7\"", ""], or: "0")
        }

        mutating func control(_ names: [String]) -> String {
            (0..<below(4)).map { _ in
                let name = pick(names, or: "no-store")
                let isNumber =
                    name.contains("age") || name.contains("stale-") || name.hasPrefix("m") && name.contains("-f")
                return isNumber ? name + "=" + number() : name
            }.joined(separator: ", ")
        }

        mutating func date() -> String {
            below(8) == 0 ? pick(["0", "-1", "never"], or: "") : World.date(Int64(below(200)) - 100)
        }

        mutating func response() -> [(String, String)] {
            var fields: [(String, String)] = []
            if below(3) > 0 {
                fields.append(
                    (
                        "Cache-Control",
                        control([
                            "max-age", "s-maxage", "no-store", "no-cache", "private", "public", "must-revalidate",
                            "proxy-revalidate", "must-understand", "immutable", "stale-while-revalidate",
                            "stale-if-error", "no-cache=\"x-a\"", "private=x-b", "stale-while-revalidate",
                        ])
                    ))
            }
            if below(2) == 0 { fields.append(("Date", date())) }
            if below(3) == 0 { fields.append(("Expires", date())) }
            if below(3) == 0 { fields.append(("Last-Modified", date())) }
            if below(3) == 0 { fields.append(("ETag", pick(["\"1\"", "\"2\"", "W/\"1\"", "1", ""], or: ""))) }
            if below(4) == 0 { fields.append(("Age", number())) }
            if below(3) == 0 { fields.append(("Vary", pick(["Accept", "Accept, X-A", "*", "a b", ""], or: ""))) }
            if below(4) == 0 { fields.append(("Connection", pick(["close", "X-A", "Cache-Control, Vary"], or: ""))) }
            if below(2) == 0 { fields.append(("X-A", number())) }
            return fields
        }

        mutating func request() -> HTTPCacheRequest {
            var fields: [(String, String)] = []
            if below(2) == 0 {
                fields.append(
                    (
                        "Cache-Control",
                        control([
                            "max-age", "min-fresh", "max-stale", "no-cache", "no-store", "only-if-cached",
                            "stale-if-error",
                        ])
                    ))
            }
            if below(2) == 0 { fields.append(("Accept", pick(["a", "b", "a, b"], or: ""))) }
            if below(8) == 0 { fields.append((pick(["Range", "If-None-Match", "Pragma"], or: "Range"), "no-cache")) }
            if below(5) == 0 { fields.append(("Authorization", "x")) }
            return World.request(pick([.get, .get, .get, .head, .post], or: .get), nil, fields)
        }

        /// Mostly near `start`, at times at the ends of what there is.
        mutating func time() -> CacheTime {
            below(20) == 0
                ? CacheTime(milliseconds: Int64.random(in: .min ... .max, using: &random))
                : World.at(Int64(below(300)) - 100)
        }

        mutating func rules() -> HTTPCacheRules {
            HTTPCacheRules(
                isShared: below(2) == 0, heuristicPercent: pick([0, 10, 100, -7, 1_000_000], or: 10),
                heuristicLimit: pick([86_400, 5, -1, .max], or: 0), staleIfError: pick([nil, 0, 60, .max, -9], or: nil))
        }

        mutating func entry() -> HTTPCacheEntry {
            let headers = World.fields(response())
            let names = VaryValues.names(headers) ?? []
            return HTTPCacheEntry(
                statusCode: pick([200, 200, 200, 204, 206, 301, 302, 404, 500], or: 200), headers: headers,
                requestTime: time(), responseTime: time(),
                vary: VaryValues(names: names, request: request().headers, digest: World.identity))
        }
    }

    private static func forbidsStale(_ entry: HTTPCacheEntry, _ rules: HTTPCacheRules) -> Bool {
        let control = entry.headers[.cacheControl] ?? ""
        let directives = control.split(separator: ",").map { $0.drop { $0 == " " } }
        if directives.contains("must-revalidate") { return true }
        return rules.isShared && directives.contains { $0 == "proxy-revalidate" || $0.hasPrefix("s-maxage") }
    }

    @Test func whatIsServedMayBeServed() {
        var maker = Maker(random: SeededGenerator(seed: 1))
        var served = 0
        for _ in 0..<15_000 {
            let stored = (0..<maker.below(4)).map { _ in maker.entry() }
            let (request, rules, now) = (maker.request(), maker.rules(), maker.time())
            let decision = HTTPCacheLookup.decide(
                request, stored: stored, now: now, rules: rules, digest: World.identity)
            let isOnlyIfCached = request.control.flags.contains(.onlyIfCached)
            switch decision {
            case .fresh(let index, let age):
                served += 1
                check(stored[index], for: request)
                #expect(age == stored[index].age(at: now) && age >= 0)
                #expect(age < stored[index].lifetime(rules).span)
                #expect(age >= now - stored[index].responseTime)
            case .stale(let index, let age, let revalidation):
                served += 1
                check(stored[index], for: request)
                #expect(age >= stored[index].lifetime(rules).span)
                #expect(!Self.forbidsStale(stored[index], rules))
                #expect(revalidation == nil || !isOnlyIfCached)
                #expect(request.control.maxStale != nil || stored[index].control.staleWhileRevalidate != nil)
            case .revalidate(let index, let conditions, _):
                #expect(!isOnlyIfCached)
                #expect(conditions.isEmpty != stored[index].hasValidator)
                #expect(request.method != .post)
            case .miss: #expect(!isOnlyIfCached)
            case .unsatisfiable: #expect(isOnlyIfCached)
            }
        }
        #expect(served > 300)
    }

    private func check(_ entry: HTTPCacheEntry, for request: HTTPCacheRequest) {
        let control = (entry.headers[.cacheControl] ?? "").split(separator: ",").map { $0.drop { $0 == " " } }
        #expect(!control.contains("no-cache"))
        #expect(!control.contains("no-store") || control.contains("must-understand"))
        #expect(request.control.noCache == .nothing)
        #expect(request.method == .get || request.method == .head)
        #expect(!request.headers.contains(.range) && !request.headers.contains(.ifNoneMatch))
        #expect(entry.vary.matches(request.headers, digest: World.identity))
        #expect(entry.headers[.vary]?.contains("*") != true)
    }

    @Test func whatIsKeptMayBeKept() {
        var maker = Maker(random: SeededGenerator(seed: 2))
        var kept = 0
        for _ in 0..<15_000 {
            let (request, rules, fields) = (maker.request(), maker.rules(), maker.response())
            let status = maker.pick([200, 204, 206, 302, 304, 404, 500, 100, 700], or: 200)
            let verdict = HTTPCacheAdmission.verdict(
                request, statusCode: status, headers: World.fields(fields), requestTime: maker.time(),
                responseTime: maker.time(), rules: rules, digest: World.identity)
            guard let entry = verdict.entry else { continue }
            kept += 1
            let control = CacheControl.response(World.fields(fields))
            #expect(request.method == .get && !request.control.flags.contains(.noStore))
            #expect(!control.flags.contains(.noStore) || control.flags.contains(.mustUnderstand))
            #expect(!rules.isShared || control.private != .everything)
            #expect(entry.isMatchable && entry.vary.matches(request.headers, digest: World.identity))
            #expect(entry.headers.contains(.date) && !entry.headers.contains(.connection))
            #expect(entry.control == control)
            #expect([200, 204, 302, 404, 500].contains(status))
            // What was kept and is fresh serves the same request again.
            if entry.lifetime(rules).span > entry.age(at: entry.responseTime), request.control == CacheControl(),
                control.noCache != .everything, !request.isConditionalOrPartial
            {
                let decision = HTTPCacheLookup.decide(
                    request, stored: [entry], now: entry.responseTime, rules: rules, digest: World.identity)
                #expect(decision.kind == "fresh")
            }
        }
        #expect(kept > 300)
    }

    @Test func whatStandsInMayStandIn() {
        var maker = Maker(random: SeededGenerator(seed: 3))
        var kinds: [String: Int] = [:]
        for _ in 0..<15_000 {
            let stored = (0..<(1 + maker.below(3))).map { _ in maker.entry() }
            let (request, rules, now) = (maker.request(), maker.rules(), maker.time())
            let decision = HTTPCacheLookup.decide(
                request, stored: stored, now: now, rules: rules, digest: World.identity)
            let status = maker.pick([200, 304, 304, 503, 404], or: 304)
            let reply = HTTPCacheReply.after(
                decision, request: request, stored: stored, statusCode: status,
                headers: World.fields(maker.response()), requestTime: now, responseTime: now, rules: rules,
                digest: World.identity)
            switch reply {
            case .deliver(let verdict, let obsolete):
                kinds["deliver", default: 0] += 1
                #expect(verdict.entry == nil || status == 200 || status == 404 || status == 503)
                #expect(obsolete.allSatisfy(stored.indices.contains))
            case .serveStored(let index, let head, let updates):
                kinds["stored", default: 0] += 1
                #expect(status == 304 && updates[index] != nil)
                #expect(head.statusCode == stored[index].statusCode)
                #expect(head.headers[.contentLength] == stored[index].headers[.contentLength])
                #expect(updates.allSatisfy { stored.indices.contains($0.key) })
            case .serveStale(let index, let age):
                kinds["stale", default: 0] += 1
                #expect(status == 503 && age >= 0)
                #expect(!Self.forbidsStale(stored[index], rules))
                #expect(stored[index].control.noCache != .everything)
            case .askAgain:
                kinds["again", default: 0] += 1
                #expect(status == 304)
            }
        }
        #expect(kinds.count == 4, "\(kinds)")
        #expect(kinds.values.allSatisfy { $0 > 20 }, "\(kinds)")
    }
}
