import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandModel

/// Interceptors in tests of users, without a request.
@Suite(.timeLimit(.minutes(20))) struct TestingContextTests {
    private struct Again: ReplayingInterceptor {
        let seen = Notes<Int>()
        func replays(after result: TransferResult, in context: InterceptionContext) async throws -> Bool {
            seen.add(context.replays)
            return result.response?.statusCode == 503
        }
    }

    private func request() throws -> RequestDescription {
        try RequestBuilder(Client.Configuration()).description(of: RawCommand(url: "http://test/x"))
    }

    /// All steps are called, and replays are bounded as in a request.
    @Test(arguments: [0, 5]) func aStepwiseInterceptorSendsAgain(before: Int) async throws {
        let again = Again()
        let calls = Notes<String>()
        let next = InterceptorNext { request in
            calls.add(request.url)
            return Response(statusCode: 503)
        }
        let context = InterceptionContext.testing(replays: before)
        let response = try await again.intercept(try request(), in: context, next: next)
        #expect(response.statusCode == 503)
        #expect(again.seen.all == Array(before..<InterceptionContext.replayLimit))
        #expect(calls.all.count == InterceptionContext.replayLimit - before + 1)
        #expect(context.replays == InterceptionContext.replayLimit)
    }

    @Test func itKnowsWhatItIsTold() async throws {
        let context = InterceptionContext.testing(command: GetAround(path: "own"), lastURL: "http://test/last")
        #expect(context.command.path == "own")
        #expect(context.lastURL == "http://test/last")
        #expect(context.requestID == 0)
        #expect(context.isOwnOrigin("http://anywhere/"))
        await #expect(throws: ErrandError.invalidArgument) { try await context.run(GetAround()) }
    }

    /// The commands of the interceptor pass all interceptors of the client: the one in the test is none of them.
    @Test func aClientRunsItsCommands() async throws {
        let notes = Notes<String>()
        let client = Client.stubbed(statuses(200)) { $0.interceptors = [Around.noting("first", notes)] }
        let context = InterceptionContext.testing(client: client)
        #expect(try await context.run(GetAround()) == "200")
        #expect(notes.all == ["first in", "first out"])
        #expect(context.isOwnOrigin("http://test/y"))
        #expect(!context.isOwnOrigin("http://other/"))
        await client.shutdown()
    }
}
