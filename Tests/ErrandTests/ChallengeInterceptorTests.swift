import Errand
import HTTPTypes
import Testing

@testable import ErrandAuthentication
@testable import ErrandModel

private struct Trouble: Error {}

@Suite struct ChallengeInterceptorTests {
    private static let basic = "Basic YWRhOnNlY3JldA=="
    private let right = ChallengeInterceptor.Answer.basic(username: "ada", password: "secret")
    private let wrong = ChallengeInterceptor.Answer.basic(username: "ada", password: "wrong")

    /// A server that takes `valid` alone, and notes what it is shown.
    private func server(
        _ seen: Notes<String?> = Notes(), valid: String = basic
    ) -> (RequestDescription) async throws -> Response {
        { request in
            let shown = request.headers[.authorization]
            seen.add(shown)
            if shown == valid { return Response(statusCode: 200) }
            return Response(statusCode: 401, headers: [.wwwAuthenticate: "Basic realm=\"a\", Bearer"])
        }
    }

    private func asking(
        _ asked: Notes<AuthenticationChallenge> = Notes(), limit: Int = 1,
        _ answer: @escaping @Sendable (AuthenticationChallenge) throws -> ChallengeInterceptor.Answer
    ) -> ChallengeInterceptor {
        ChallengeInterceptor(limit: limit) { challenge in
            asked.add(challenge)
            return try answer(challenge)
        }
    }

    @Test func whatWasAnsweredIsKept() async throws {
        let asked = Notes<AuthenticationChallenge>()
        let seen = Notes<String?>()
        let interceptor = asking(asked) { _ in right }
        for url in ["http://a/x", "http://a/y"] {
            let status = try await InterceptedRun(interceptors: [interceptor], url: url).status(server(seen))
            #expect(status == 200)
        }
        #expect(seen.all == [nil, Self.basic, Self.basic])
        #expect(asked.all.count == 1)
        let challenge = try #require(asked.all.first)
        #expect(challenge.offers.map(\.scheme) == ["bearer", "basic"])
        #expect(challenge.url == "http://a/x")
        #expect(challenge.response.statusCode == 401)
        #expect(challenge.attempt == 1)

        interceptor.forgetAnswers()
        _ = try await InterceptedRun(interceptors: [interceptor]).status(server(seen))
        #expect(seen.all.suffix(2) == [nil, Self.basic])
    }

    @Test(arguments: ["http://b/x", "http://a:81/x", "https://a/x"])
    func anotherOriginIsNotShownIt(url: String) async throws {
        let interceptor = asking { challenge in challenge.url == "http://a/x" ? right : .take }
        _ = try await InterceptedRun(interceptors: [interceptor]).status(server())
        let seen = Notes<String?>()
        let status = try await InterceptedRun(interceptors: [interceptor], url: url).status(server(seen))
        #expect(status == 401)
        #expect(seen.all == [nil])
    }

    /// The answer would go to the first origin, which did not ask.
    @Test func aChallengeFromWhereARedirectLedIsNotAnswered() async throws {
        let asked = Notes<AuthenticationChallenge>()
        var run = InterceptedRun(interceptors: [asking(asked) { _ in right }])
        run.lastURL = "http://b/x"
        let status = try await run.status(server())
        #expect(status == 401)
        #expect(asked.all.isEmpty)
        run.lastURL = "http://a/login"
        let here = try await run.status(server())
        #expect(here == 200)
        #expect(asked.all.map(\.url) == ["http://a/login"])
    }

    @Test func whatIsRefusedLaterIsForgotten() async throws {
        let asked = Notes<AuthenticationChallenge>()
        let interceptor = asking(asked) { challenge in asked.all.count == 1 ? right : .bearer("new") }
        _ = try await InterceptedRun(interceptors: [interceptor]).status(server())
        let seen = Notes<String?>()
        for _ in 0..<2 {
            let status = try await InterceptedRun(interceptors: [interceptor]).status(
                server(seen, valid: "Bearer new"))
            #expect(status == 200)
        }
        #expect(seen.all == [Self.basic, "Bearer new", "Bearer new"])
        #expect(asked.all.count == 2)
    }

    @Test func wrongAnswersAreNeitherKeptNorGivenForEver() async throws {
        for limit in [0, 1, 3] {
            let asked = Notes<AuthenticationChallenge>()
            let seen = Notes<String?>()
            let interceptor = asking(asked, limit: limit) { _ in wrong }
            let status = try await InterceptedRun(interceptors: [interceptor]).status(server(seen))
            #expect(status == 401)
            #expect(asked.all.map(\.attempt) == Array(0..<limit).map { $0 + 1 })
            #expect(seen.all.count == limit + 1)
            let next = try await InterceptedRun(interceptors: [interceptor]).prepare()
            #expect(next.headers[.authorization] == nil)
        }
    }

    @Test func theSecondAnswerMayBeRight() async throws {
        let interceptor = asking(limit: 2) { $0.attempt == 1 ? wrong : right }
        let status = try await InterceptedRun(interceptors: [interceptor]).status(server())
        #expect(status == 200)
        let next = try await InterceptedRun(interceptors: [interceptor]).prepare()
        #expect(next.headers[.authorization] == Self.basic)
    }

    @Test func answers() async throws {
        for (answer, expected) in [
            (.basic(username: "Aladdin", password: "open sesame"), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            // RFC 7617 2.1.
            (.basic(username: "test", password: "123\u{A3}"), "Basic dGVzdDoxMjPCow=="),
            (.bearer("mF_9.B5f-4.1JqM"), "Bearer mF_9.B5f-4.1JqM"), (.header("Negotiate YWJj"), "Negotiate YWJj"),
            (.take, nil),
        ] as [(ChallengeInterceptor.Answer, String?)] {
            let seen = Notes<String?>()
            _ = try await InterceptedRun(interceptors: [asking { _ in answer }]).status(server(seen))
            #expect(seen.all == (expected.map { [nil, $0] } ?? [nil]))
            #expect("\(answer) \(String(reflecting: answer))".contains("sesame") == false)
        }
    }

    @Test(
        arguments: [
            .basic(username: "a:b", password: ""), .basic(username: "a\r\n", password: ""),
            .basic(username: "a", password: "b\0"), .bearer("a\r\nEvil: 1"), .bearer(""), .header("a\nb"),
        ] as [ChallengeInterceptor.Answer])
    func answersThatNoFieldCanSay(answer: ChallengeInterceptor.Answer) async throws {
        await #expect(throws: ErrandError.invalidHeader) {
            try await InterceptedRun(interceptors: [asking { _ in answer }]).status(server())
        }
    }

    @Test func failuresAreTyped() async throws {
        let declined = await #expect(throws: ErrandError.self) {
            try await InterceptedRun(interceptors: [asking { _ in .fail }]).status(server())
        }
        #expect(declined == .authenticationFailed)
        let thrown = await #expect(throws: ErrandError.self) {
            try await InterceptedRun(interceptors: [asking { _ in throw Trouble() }]).status(server())
        }
        #expect(thrown == .authenticationFailed)
        #expect(thrown?.underlyingError is Trouble)
    }

    @Test func theFieldOfTheRequestIsSentFirst() async throws {
        let asked = Notes<AuthenticationChallenge>()
        let interceptor = asking(asked) { _ in right }
        _ = try await InterceptedRun(interceptors: [interceptor]).status(server())
        let seen = Notes<String?>()
        for own in ["Bearer own", Self.basic] {
            let run = InterceptedRun(interceptors: [interceptor], headers: [.authorization: own])
            let status = try await run.status(server(seen))
            #expect(status == 200)
        }
        // Refused, it gives way to what is known to be good, without a question.
        #expect(seen.all == ["Bearer own", Self.basic, Self.basic])
        #expect(asked.all.count == 1)
    }

    @Test func whoWasChallengedBeforeAnAnswerTurnedOutGoodIsNotAskedAbout() async throws {
        let asked = Notes<AuthenticationChallenge>()
        let interceptor = asking(asked) { _ in right }
        let late = InterceptedRun(interceptors: [interceptor])
        let sent = try await late.prepare()
        _ = try await InterceptedRun(interceptors: [interceptor]).status(server())
        let isReplayed = try await late.replays(after: .response(Response(statusCode: 401)), sent: sent)
        #expect(isReplayed)
        let again = try await late.prepare(1)
        #expect(again.headers[.authorization] == Self.basic)
        #expect(asked.all.count == 1)
    }

    // MARK: Digest

    @Test func digestIsLeftToTheEngine() async throws {
        let expected = ServerAuthentication.digest(username: "ada", password: "secret")
        let asked = Notes<AuthenticationChallenge>()
        let seen = Notes<ServerAuthentication?>()
        let interceptor = asking(asked) { _ in .digest(username: "ada", password: "secret") }
        for headers in [[:], [.authorization: "Bearer own"]] as [HTTPFields] {
            let run = InterceptedRun(interceptors: [interceptor], headers: headers)
            let status = try await run.status { request in
                seen.add(request.authentication)
                guard request.authentication == expected else {
                    return Response(statusCode: 401, headers: [.wwwAuthenticate: "Digest realm=\"a\", nonce=\"n\""])
                }
                #expect(request.headers[.authorization] == nil)
                return Response(statusCode: 200)
            }
            #expect(status == 200)
        }
        // The second request's own field is sent first.
        #expect(seen.all == [nil, expected, nil, expected])
        #expect(asked.all.map(\.scheme) == ["digest"])
        let text = "\(ChallengeInterceptor.Answer.digest(username: "ada", password: "secret"))"
        #expect(text == "digest ada")
    }

    @Test func digestIsNotForProxies() async throws {
        let interceptor = asking { _ in .digest(username: "ada", password: "secret") }
        await #expect(throws: ErrandError.authenticationFailed) {
            try await InterceptedRun(interceptors: [interceptor]).status { _ in Response(statusCode: 407) }
        }
    }

    // MARK: Proxies

    private func proxied(_ seen: Notes<[String?]>) -> (RequestDescription) async throws -> Response {
        { request in
            let shown = [request.headers[.proxyAuthorization], request.headers[.authorization]]
            seen.add(shown)
            if shown[0] != "Bearer p" { return Response(statusCode: 407, headers: [.proxyAuthenticate: "Bearer"]) }
            if shown[1] != "Bearer s" { return Response(statusCode: 401, headers: [.wwwAuthenticate: "Bearer"]) }
            return Response(statusCode: 200)
        }
    }

    @Test func aProxyAndTheServerBehindIt() async throws {
        let seen = Notes<[String?]>()
        let asked = Notes<AuthenticationChallenge>()
        let interceptor = asking(asked) { .bearer($0.isProxy ? "p" : "s") }
        for _ in 0..<2 {
            let status = try await InterceptedRun(interceptors: [interceptor]).status(proxied(seen))
            #expect(status == 200)
        }
        #expect(seen.all == [[nil, nil], ["Bearer p", nil], ["Bearer p", "Bearer s"], ["Bearer p", "Bearer s"]])
        #expect(asked.all.map(\.isProxy) == [true, false])
    }

    /// Inside the tunnel the field would reach the server.
    @Test func aProxyIsNotAnsweredWithinTLS() async throws {
        let asked = Notes<AuthenticationChallenge>()
        let seen = Notes<[String?]>()
        let interceptor = asking(asked) { .bearer($0.isProxy ? "p" : "s") }
        let status = try await InterceptedRun(interceptors: [interceptor], url: "https://a/").status(proxied(seen))
        #expect(status == 407)
        #expect(asked.all.isEmpty)
        #expect(seen.all == [[nil, nil]])
    }

    /// Nothing that could say 407 stands in between: the server itself does, which is no business of its.
    @Test(arguments: [.direct, .url("socks5://p:1"), .url("http://p:1", bypass: ["a"])] as [ConnectionOptions.Proxy])
    func aServerThatSaysWhatAProxyWouldIsNotAnswered(proxy: ConnectionOptions.Proxy) async throws {
        let asked = Notes<AuthenticationChallenge>()
        let seen = Notes<[String?]>()
        var run = InterceptedRun(interceptors: [asking(asked) { .bearer($0.isProxy ? "p" : "s") }])
        run.connection = ConnectionOptions(proxy: proxy)
        let status = try await run.status(proxied(seen))
        #expect(status == 407)
        #expect(asked.all.isEmpty)
        #expect(seen.all == [[nil, nil]])
    }

    @Test func whatOneProxyWasToldIsNotForAnotherWay() async throws {
        let interceptor = asking { .bearer($0.isProxy ? "p" : "s") }
        var run = InterceptedRun(interceptors: [interceptor])
        _ = try await run.status(proxied(Notes()))
        #expect(try await run.prepare().headers[.proxyAuthorization] == "Bearer p")
        run = InterceptedRun(interceptors: [interceptor])
        run.connection = ConnectionOptions(proxy: .url("http://other:1"))
        #expect(try await run.prepare().headers[.proxyAuthorization] == nil)
        var direct = InterceptedRun(interceptors: [interceptor])
        direct.clientConnection = ConnectionOptions()
        #expect(try await direct.prepare().headers[.proxyAuthorization] == nil)
    }
}
