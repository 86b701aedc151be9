import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandCaching

@Suite struct CacheReplyTests {
    private typealias World = CacheWorld

    private static let stale = ("Cache-Control", "max-age=1")

    /// Which entries a 304 with these fields validates, where the last one was asked about; `nil`: it is asked again.
    private func updated(by fields: [(String, String)], _ stored: [[(String, String)]]) -> [Int]? {
        let stored = stored.map { World.entry($0 + [Self.stale]) }
        let index = stored.count - 1
        let decision = HTTPCacheDecision.revalidate(entry: index, conditions: stored[index].conditions, reason: .stale)
        switch World.reply(decision, stored, 304, fields, at: 100) {
        case .serveStored(let entry, _, let updates):
            #expect(entry == index)
            return updates.keys.sorted()
        case .askAgain: return nil
        case .deliver, .serveStale: return []
        }
    }

    @Test func rfc9111_4_3_4_strongValidators() {
        let (one, two) = ([("ETag", "\"1\"")], [("ETag", "\"2\"")])
        #expect(updated(by: one, [two, one]) == [1])
        #expect(updated(by: one, [one, two, one]) == [0, 2])
        #expect(updated(by: one, [one, two]) == nil)
        #expect(updated(by: two, [one]) == nil)
        #expect(updated(by: one, [[("ETag", "W/\"1\"")]]) == nil)
        #expect(updated(by: one, [[("Last-Modified", World.date(-9))]]) == nil)
    }

    @Test func rfc9111_4_3_4_weakValidators() {
        let weak = [("ETag", "W/\"1\"")]
        #expect(updated(by: weak, [weak]) == [0])
        #expect(updated(by: weak, [[("ETag", "\"1\"")]]) == [0])
        // One alone: the most recent, or the one asked about.
        #expect(updated(by: weak, [weak, weak]) == [1])
        #expect(updated(by: weak, [[("ETag", "W/\"2\"")]]) == nil)
        let modified = [("Last-Modified", World.date(-9))]
        #expect(updated(by: modified, [modified]) == [0])
        #expect(updated(by: modified, [[("Last-Modified", World.date(-8))]]) == nil)
    }

    @Test func rfc9111_4_3_4_noValidator() {
        #expect(updated(by: [], [[("Last-Modified", World.date(-9))]]) == [0])
        #expect(updated(by: [], [[("ETag", "\"2\"")], [("ETag", "\"1\"")]]) == [1])
    }

    @Test func rfc9111_4_3_4_aNotModifiedOfTheCallersOwnIsHisOwn() {
        let entry = World.entry([("ETag", "\"1\""), Self.stale])
        guard
            case .deliver(let verdict, let obsolete) =
                World.reply(.miss(.bypass), [entry], 304, [("ETag", "\"1\"")], at: 9)
        else { return #expect(Bool(false)) }
        #expect(verdict.reason == .status)
        #expect(obsolete.isEmpty)
    }

    @Test func rfc9111_3_2_fieldsAreUpdated() throws {
        let entry = World.entry([
            ("ETag", "\"1\""), ("Cache-Control", "max-age=1"), ("X-Kept", "k"), ("X-Twice", "1"), ("X-Twice", "2"),
            ("Content-Length", "5"), ("Content-Encoding", "gzip"), ("Content-Type", "text/plain"), ("Age", "500"),
            ("Date", World.date(0)),
        ])
        let decision = World.decide([entry], at: 1000)
        let reply = World.reply(
            decision, [entry], 304,
            [
                ("ETag", "\"1\""), ("Cache-Control", "max-age=60"), ("X-New", "n"), ("x-twice", "3"),
                ("Content-Length", "0"), ("Content-Encoding", "br"), ("Content-Type", "text/html"),
                ("Content-Range", "bytes 0-1/2"), ("Connection", "X-Hop"), ("X-Hop", "1"), ("Keep-Alive", "x"),
            ], at: 1000)
        guard case .serveStored(0, let head, let updates) = reply else { return #expect(Bool(false)) }
        let expected: [(String, String)] = [
            ("ETag", "\"1\""), ("Cache-Control", "max-age=60"), ("X-Kept", "k"), ("X-New", "n"), ("X-Twice", "3"),
            ("Content-Length", "5"), ("Content-Encoding", "gzip"), ("Content-Type", "text/html"),
            ("Date", World.date(1000)),
        ]
        #expect(head.headers == World.fields(expected))
        let kept = try #require(updates[0]?.entry)
        #expect(kept.headers == head.headers)
        #expect(kept.statusCode == 200)
        // RFC 9111 4.2.3: its age is counted from the validation.
        #expect(World.decide([kept], at: 1059) == .fresh(entry: 0, age: 59_000))
        #expect(World.decide([kept], at: 1060).kind == "revalidate")
    }

    @Test func rfc9111_3_whatTheServerNoLongerWantsKeptIsServedOnce() {
        let entry = World.entry([("ETag", "\"1\""), Self.stale])
        let reply = World.reply(
            World.decide([entry], at: 9), [entry], 304, [("ETag", "\"1\""), ("Cache-Control", "no-store")], at: 9)
        guard case .serveStored(0, _, let updates) = reply else { return #expect(Bool(false)) }
        #expect(updates[0]?.reason == .responseNoStore)
    }

    @Test func rfc9111_4_3_3_aFullResponseReplaces() throws {
        let entry = World.entry([("ETag", "\"1\""), Self.stale])
        let decision = World.decide([entry], at: 9)
        let reply = World.reply(decision, [entry], 200, [("ETag", "\"2\""), ("Cache-Control", "max-age=5")], at: 9)
        guard case .deliver(let verdict, let obsolete) = reply else { return #expect(Bool(false)) }
        #expect(verdict.entry?.entityTag == EntityTag("\"2\""))
        #expect(obsolete == [0])
        // Not kept, yet what it replaces is over; an error says nothing about it.
        for (status, expected) in [(200, [0]), (404, [0]), (410, [0]), (403, []), (500, []), (429, []), (206, [])] {
            guard
                case .deliver(_, let obsolete) =
                    World.reply(decision, [entry], status, [("Cache-Control", "no-store")], at: 9)
            else { return #expect(Bool(false)) }
            #expect(obsolete == expected, "\(status)")
        }
    }

    @Test(arguments: [500, 502, 503, 504])
    func rfc5861_4_staleIfError(status: Int) {
        func reply(_ response: String, _ request: String? = nil, at seconds: Int64, limit: Int64? = nil) -> String {
            let rules = HTTPCacheRules(staleIfError: limit)
            let stored = [World.entry([("ETag", "\"1\""), ("Cache-Control", response)])]
            let request = World.request(.get, request)
            let decision = World.decide(request, stored, at: seconds, rules: rules)
            let failed = HTTPCacheReply.afterFailure(
                decision, request: request, stored: stored, now: World.at(seconds), rules: rules)
            switch World.reply(decision, request, stored, status, [], at: seconds, rules: rules) {
            case .serveStale(0, let age):
                #expect(age == seconds * 1000)
                #expect(failed != nil)
                return "stale"
            case .deliver:
                #expect(failed == nil)
                return "error"
            default: return "?"
            }
        }
        #expect(reply("max-age=10, stale-if-error=5", at: 15) == "stale")
        #expect(reply("max-age=10, stale-if-error=5", at: 16) == "error")
        #expect(reply("max-age=10", at: 11) == "error")
        #expect(reply("max-age=10", "stale-if-error=5", at: 15) == "stale")
        #expect(reply("max-age=10", "stale-if-error=5", at: 16) == "error")
        #expect(reply("max-age=10", at: 15, limit: 5) == "stale")
        #expect(reply("max-age=10", at: 16, limit: 5) == "error")
        #expect(reply("max-age=10, stale-if-error=0", at: 15, limit: 5) == "error")
        // Forbidden (RFC 9111 4.2.4).
        #expect(reply("max-age=10, stale-if-error=5, must-revalidate", at: 11) == "error")
        #expect(reply("max-age=10, stale-if-error=5, no-cache", at: 11) == "error")
        #expect(reply("max-age=10, stale-if-error=5", "no-cache", at: 11) == "error")
        #expect(reply("max-age=10, stale-if-error=5", "no-cache, stale-if-error=5", at: 11) == "stale")
    }

    @Test(arguments: [501, 505, 400, 404, 429])
    func rfc5861_4_otherErrorsAreDelivered(status: Int) {
        let entry = World.entry([("ETag", "\"1\""), ("Cache-Control", "max-age=1, stale-if-error=99")])
        guard case .deliver = World.reply(World.decide([entry], at: 9), [entry], status, [], at: 9) else {
            return #expect(Bool(false))
        }
    }

    @Test func rfc9111_4_3_5_headFreshens() {
        func effect(_ fields: [(String, String)], _ request: HTTPCacheRequest = World.request(.head), status: Int = 200)
            -> String
        {
            let entry = World.entry([
                ("ETag", "\"1\""), ("Last-Modified", World.date(-9)), ("Content-Length", "5"), Self.stale,
            ])
            let effects = HTTPCacheValidation.afterHead(
                request, stored: [entry], statusCode: status, headers: World.fields(fields), requestTime: World.at(9),
                responseTime: World.at(9), rules: HTTPCacheRules(), digest: World.identity)
            switch effects[0] {
            case .update(let verdict):
                #expect(verdict.entry?.headers[.contentLength] == "5")
                return "update"
            case .invalidate: return "invalidate"
            case nil: return "none"
            }
        }
        #expect(effect([("ETag", "\"1\""), ("Content-Length", "5"), ("Cache-Control", "max-age=60")]) == "update")
        #expect(effect([("Last-Modified", World.date(-9))]) == "update")
        #expect(effect([]) == "update")
        #expect(effect([("ETag", "\"2\"")]) == "invalidate")
        #expect(effect([("ETag", "W/\"1\"")]) == "invalidate")
        #expect(effect([("Last-Modified", World.date(-8))]) == "invalidate")
        #expect(effect([("ETag", "\"1\""), ("Content-Length", "6")]) == "invalidate")
        #expect(effect([("ETag", "\"2\"")], status: 404) == "none")
        #expect(effect([("ETag", "\"2\"")], World.request(.get)) == "none")
        #expect(effect([("ETag", "\"2\"")], World.request(.head, "no-store")) == "none")
    }

    @Test func rfc9110_9_3_2_aHeadThatIsNotModifiedServesTheStoredHead() {
        let entry = World.entry([("ETag", "\"1\""), Self.stale])
        let head = World.request(.head)
        let decision = World.decide(head, [entry], at: 9)
        guard
            case .serveStored(0, _, let updates) =
                World.reply(decision, head, [entry], 304, [("ETag", "\"1\"")], at: 9)
        else { return #expect(Bool(false)) }
        #expect(updates[0]?.entry != nil)
        guard case .deliver(let verdict, let obsolete) = World.reply(decision, head, [entry], 200, [Self.stale], at: 9)
        else { return #expect(Bool(false)) }
        #expect(verdict.reason == .method && obsolete.isEmpty)
    }
}
