import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandGroups
@testable import ErrandModel

@Suite(.timeLimit(.minutes(20))) struct RequestGraphTests {
    private func client(failing: Set<String> = []) -> (Client, StubTransport) {
        let stub = StubTransport { description in
            let path = String(description.url.split(separator: "/").last ?? "")
            return .response(status: failing.contains(path) ? 500 : 200, body: path)
        }
        return (Client.stubbed(stub), stub)
    }

    /// Transfers are numbered from 1, in the order of their submission.
    private static func path(_ stub: StubTransport, _ id: TransferID) -> String {
        String(stub.submitted[Int(id.rawValue) - 1].url.split(separator: "/").last ?? "")
    }

    private func get(_ name: String, after needs: [String] = []) -> RequestGraph.Member {
        .init(name, after: needs, GetText(path: name))
    }

    @Test func membersGetTheResultsOfThoseTheyNeed() async throws {
        let (client, stub) = client()
        let results = try await client.run(
            RequestGraph([
                .init("d", after: ["b", "c"]) { results in
                    GetText(
                        path: try results.value(named: "b", as: String.self)
                            + results.value(named: "c", as: String.self))
                },
                .init("b", after: ["a"]) { GetText(path: try $0.value(named: "a", as: String.self) + "b") },
                get("c", after: ["a", "a"]),
                get("a"),
            ]))
        let asked = stub.submitted.map(\.url)
        #expect(asked.first == "http://test/a" && asked.last == "http://test/abc" && asked.count == 4)
        #expect(try results.value(named: "d", as: String.self) == "abc")
        #expect(results.entries.first { $0.name == "d" }?.index == 0)
        await client.shutdown(.cancel)
    }

    @Test func whatDoesNotDependRunsAtOnce() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let request = client.start(
            RequestGraph(
                [get("a"), get("b"), get("c", after: ["a"]), get("d", after: ["b"]), get("e")], maxConcurrent: 2))
        func end(_ path: String) async {
            for id in stub.open where Self.path(stub, id) == path {
                stub.complete(id, with: .response(Response(statusCode: 200)))
            }
            await client.callbacksDrained()
        }
        func open() -> [String] { stub.open.map { Self.path(stub, $0) } }
        #expect(open().sorted() == ["a", "b"])
        await end("a")
        // In the order in which they became ready.
        #expect(open().sorted() == ["b", "e"])
        await end("b")
        #expect(open().sorted() == ["c", "e"])
        await end("e")
        await end("c")
        #expect(open().sorted() == ["d"])
        await end("d")
        try await waitUntil("the request has ended") { request.state.isFinished }
        #expect(request.state == .succeeded)
        await client.shutdown(.cancel)
    }

    @Test func circlesAreFoundBeforeAnythingIsSent() async throws {
        let (client, stub) = client()
        let error = await #expect(throws: ErrandError.dependencyCycle) {
            try await client.run(
                RequestGraph([
                    get("x"), get("a", after: ["x", "b"]), get("b", after: ["c"]), get("c", after: ["a"]),
                    get("y", after: ["a"]),
                ]))
        }
        #expect(error?.message == "'a' needs 'b' needs 'c' needs 'a'")
        await #expect(throws: ErrandError.dependencyCycle) {
            try await client.run(RequestGraph([get("a", after: ["a"])]))
        }
        await #expect(throws: ErrandError.invalidArgument) {
            try await client.run(RequestGraph([get("a", after: ["nobody"])]))
        }
        await #expect(throws: ErrandError.invalidArgument) { try await client.run(RequestGraph([get("a"), get("a")])) }
        await #expect(throws: ErrandError.invalidArgument) {
            try await client.run(RequestGraph([get("a")], maxConcurrent: 0))
        }
        #expect(stub.submitted.isEmpty)
        // Deep, and no circle.
        let deep = [get("0")] + (1..<5000).map { get("\($0)", after: ["\($0 - 1)"]) }
        #expect(throws: Never.self) { try RequestGraph(deep.reversed()).plan() }
        await client.shutdown(.cancel)
    }

    @Test(arguments: [true, false]) func aFailureStopsWhatNeedsIt(goesOn: Bool) async throws {
        let (client, stub) = client(failing: ["a"])
        var graph = RequestGraph(
            [get("a"), get("b", after: ["a"]), get("c"), get("d", after: ["c"])], maxConcurrent: 1)
        graph.continuesAfterFailures = goesOn
        let request = client.request(graph)
        await #expect(throws: ErrandError.groupFailed) { try await request.runWatched() }
        #expect(request.error?.groupFailure?.name == "a")
        #expect(request.failedRequest?.url == "http://test/a")
        #expect(
            stub.submitted.map(\.url)
                == (goesOn ? ["http://test/a", "http://test/c", "http://test/d"] : ["http://test/a"]))
        #expect(request.results.entries.count == (goesOn ? 3 : 1))
        await client.shutdown(.cancel)
    }

    @Test func anEmptyGraphSucceeds() async throws {
        let (client, _) = client()
        #expect(try await client.run(RequestGraph([])).entries.isEmpty)
        await client.shutdown(.cancel)
    }
}
