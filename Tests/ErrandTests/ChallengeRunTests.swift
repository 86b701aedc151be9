import Errand
import Testing

@testable import ErrandAuthentication
@testable import ErrandEngine
@testable import ErrandModel

private let new = ServerCredential.field("new")
private let old = AnswerBook.Entry(credential: .field("old"), serial: 1)
private let newer = AnswerBook.Entry(credential: .field("newer"), serial: 2)

@Suite struct ChallengeRunTests {
    /// How to come to each state.
    enum State: CaseIterable {
        case nothing, own, kept, keptOverOwn, answered

        func make() -> ChallengeRun {
            var run = ChallengeRun()
            switch self {
            case .nothing: break
            case .own: _ = run.toSend(own: true, kept: nil)
            case .kept: _ = run.toSend(own: false, kept: old)
            case .keptOverOwn: run.kept(old)
            case .answered: run.answered(new)
            }
            return run
        }

        var sent: ChallengeRun.Sent {
            switch self {
            case .nothing: .nothing
            case .own: .own
            case .kept: .kept(old, wins: false)
            case .keptOverOwn: .kept(old, wins: true)
            case .answered: .answered(new)
            }
        }
    }

    @Test(arguments: State.allCases)
    func everyStateSends(state: State) {
        for (own, kept) in [(false, nil), (false, newer), (true, nil), (true, newer)] as [(Bool, AnswerBook.Entry?)] {
            var run = state.make()
            #expect(run.sent == state.sent)
            let sent = run.toSend(own: own, kept: kept)
            switch state {
            case .answered:
                #expect(sent == new)
                #expect(run.sent == state.sent)
            case .keptOverOwn:
                #expect(sent == old.credential)
                #expect(run.sent == state.sent)
            case .nothing, .own, .kept:
                #expect(sent == (own ? nil : kept?.credential))
                #expect(run.sent == (own ? .own : kept.map { .kept($0, wins: false) } ?? .nothing))
            }
        }
    }

    @Test(arguments: State.allCases)
    func everyStateIsChallenged(state: State) {
        var asking = state.make()
        #expect(asking.challenged(kept: nil, limit: 1) == .ask(attempt: 1))
        #expect(asking.challenged(kept: nil, limit: 1) == .take)
        var never = state.make()
        #expect(never.challenged(kept: nil, limit: 0) == .take)
        var twice = state.make()
        #expect(twice.challenged(kept: nil, limit: 2) == .ask(attempt: 1))
        #expect(twice.challenged(kept: nil, limit: 2) == .ask(attempt: 2))

        var other = state.make()
        let reaction = other.challenged(kept: newer, limit: 0)
        switch state {
        case .answered: #expect(reaction == .take)
        case .nothing, .kept:
            #expect(reaction == .replay)
            #expect(other.sent == .kept(newer, wins: false))
        case .own, .keptOverOwn:
            #expect(reaction == .replay)
            #expect(other.toSend(own: true, kept: nil) == newer.credential)
        }
    }

    @Test(arguments: State.allCases)
    func onlyANewAnswerIsToBeKept(state: State) {
        #expect(state.make().proven == (state == .answered ? new : nil))
    }

    @Test func theBook() throws {
        var book = AnswerBook()
        func key(_ url: String, _ side: ChallengeSide = .server, proxy: ConnectionOptions.Proxy? = nil) throws
            -> AnswerBook.Key?
        {
            var run = InterceptedRun(interceptors: [], url: url)
            run.clientConnection = ConnectionOptions(proxy: .url("http://p:1"))
            run.connection = proxy.map { ConnectionOptions(proxy: $0) }
            return AnswerBook.Key(
                side, try run.description(), run.clientConnection, ProxyEnvironment(proxy: "p:1", bypass: nil))
        }
        let server = try #require(try key("http://a/x"))
        #expect(try key("HTTP://A:80/y?z") == server)
        for other in ["https://a/x", "http://b/x", "http://a:81/x"] { #expect(try key(other) != server) }
        #expect(try key("http://a/x", .proxy) != server)
        #expect(try key("https://a/x", .proxy) == nil)
        #expect(try key("http://a/x", proxy: .environment) != server)
        #expect(try key("http://a/x", .proxy, proxy: .environment) != nil)
        // Whoever says 407 there is no proxy, by the request's options or by the client's.
        let plain = InterceptedRun(interceptors: [], clientConnection: ConnectionOptions())
        #expect(AnswerBook.Key(.proxy, try plain.description(), ConnectionOptions(), ProxyEnvironment()) == nil)
        #expect(try key("http://a/x", .proxy, proxy: .direct) == nil)
        #expect(try key("http://a/x", .proxy, proxy: .url("socks5://p:1")) == nil)
        #expect(try key("http://a/x", .proxy, proxy: .url("http://p:1", bypass: ["a"])) == nil)
        #expect(try key("http://b/x", .proxy, proxy: .url("http://p:1", bypass: ["a"])) != nil)

        let first = book.keep(new, for: server)
        #expect(book[server] == first)
        let second = book.keep(.field("b"), for: server)
        book.forget(first, for: server)
        #expect(book[server] == second)
        book.forget(second, for: server)
        #expect(book[server] == nil)

        for number in 0...AnswerBook.capacity {
            let key = try #require(try key("http://h\(number)/"))
            _ = book.keep(new, for: key)
        }
        #expect(book.count == AnswerBook.capacity)
        let oldest = try #require(try key("http://h0/"))
        #expect(book[oldest] == nil)
        book.forgetAll()
        #expect(book.count == 0)
    }
}
