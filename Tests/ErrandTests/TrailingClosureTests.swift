import Errand
import ErrandTesting
import Testing

/// A trailing closure without a label is the completion, told of success and failure alike.
@Suite struct TrailingClosureTests {
    private let told = Notes<String>()

    private func client(failing: Bool) -> Client {
        Client.stubbed(StubTransport { _ in failing ? .failure(.connectionLost) : .response(status: 200) })
    }

    @Test(arguments: [false, true])
    func aStartTellsItsCompletionOfEveryEnd(failing: Bool) async {
        let client = client(failing: failing)
        client.start(GetText()) { _ in told.add("completion") }
        await client.shutdown()
        #expect(told.all == ["completion"])
    }

    @Test(arguments: [false, true])
    func aCompletionIsToldAfterTheClosureOfItsEnd(failing: Bool) async {
        let client = client(failing: failing)
        client.start(GetText()) { _ in
            told.add("completion")
        } success: { _ in
            told.add("success")
        } failure: { _ in
            told.add("failure")
        }
        await client.shutdown()
        #expect(told.all == [failing ? "failure" : "success", "completion"])
    }

    @Test(arguments: [false, true])
    func aClosureForFailuresLeavesTheCompletionWhatItIs(failing: Bool) async {
        let client = client(failing: failing)
        client.start(GetText()) { _ in
            told.add("completion")
        } failure: { _ in
            told.add("failure")
        }
        await client.shutdown()
        #expect(told.all == (failing ? ["failure", "completion"] : ["completion"]))
    }

    @Test(arguments: [false, true])
    func aRequestsStartAndWhenDoneFollowTheSameRule(failing: Bool) async throws {
        let client = client(failing: failing)
        let request = client.request(GetText())
        request.start { _ in told.add("start") }
        try await waitUntil("the requests have come so far") { request.state.isFinished && client.requests.isEmpty }
        request.whenDone { _ in told.add("whenDone") }
        request.start()
        await client.shutdown()
        #expect(told.all == ["start", "whenDone"])
    }

    @Test(arguments: [false, true])
    func oneLabelledClosureIsToldOfItsEndAlone(failing: Bool) async {
        let client = client(failing: failing)
        client.start(GetText(), success: { _ in told.add("success") })
        client.start(GetText(), failure: { _ in told.add("failure") })
        await client.shutdown()
        #expect(told.all == [failing ? "failure" : "success"])
    }
}
