import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandGroups
@testable import ErrandModel

private struct GetNumber: Command {
    var number: Int
    var path: String { "\(number)" }
    struct Response: Decodable, Sendable, Equatable { var number: Int }
}

/// The forms that a task awaits.
@Suite(.timeLimit(.minutes(20))) struct GroupFormsTests {
    private func client(failing: Set<Int> = []) -> (Client, StubTransport) {
        let stub = StubTransport { description in
            let number = Int(description.url.split(separator: "/").last ?? "") ?? -1
            return .response(status: failing.contains(number) ? 500 : 200, body: "{\"number\": \(number)}")
        }
        return (Client.stubbed(stub), stub)
    }

    @Test func aTupleOfValues() async throws {
        let (client, _) = client()
        let (number, text, raw) = try await client.run(GetNumber(number: 1), GetText(path: "2"), GetRaw())
        #expect(number.number == 1 && text == #"{"number": 2}"# && raw.statusCode == 200)
        let two: (GetNumber.Response, GetNumber.Response) = try await client.run(
            GetNumber(number: 1), GetNumber(number: 2))
        #expect(two.1.number == 2)
        await client.shutdown(.cancel)
    }

    @Test func aTupleFailsByOne() async throws {
        let (client, _) = client(failing: [2])
        let error = await #expect(throws: ErrandError.groupFailed) {
            try await client.run(GetNumber(number: 1), GetNumber(number: 2))
        }
        #expect(error?.groupFailure?.index == 1 && error?.groupFailure?.error == .statusNotAccepted)
        let (first, second) = try await client.results(of: GetNumber(number: 1), GetNumber(number: 2))
        #expect(try first.get().number == 1)
        #expect(throws: ErrandError.statusNotAccepted) { try second.get() }
        await client.shutdown(.cancel)
    }

    @Test func aTupleIsCancelledWithItsTask() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let task = Task { try await client.run(GetText(path: "1"), GetText(path: "2")) }
        try await waitUntil("2 transfers are open") { stub.open.count >= 2 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(stub.open.isEmpty)
        await client.shutdown(.cancel)
    }

    @Test func resultsAsTheyCome() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let batch = client.request(
            Batch([GetNumber(number: 0), GetNumber(number: 1), GetNumber(number: 2)], policy: .collectAll))
        var results = batch.resultsAsCompleted.makeAsyncIterator()
        try await waitUntil("3 transfers are open") { stub.open.count >= 3 }
        let open = stub.open
        for index in [2, 0, 1] {
            stub.complete(
                open[index],
                with: .response(Response(statusCode: index == 0 ? 500 : 200, body: Array(#"{"number": 7}"#.utf8))))
            let next = try #require(try await results.next())
            #expect(next.index == index)
            if index == 0 {
                #expect(throws: ErrandError.statusNotAccepted) { try next.result.get() }
            } else {
                #expect(try next.result.get().number == 7)
            }
        }
        #expect(try await results.next() == nil)
        #expect(batch.value?.values.count == 2)
        await client.shutdown(.cancel)
    }

    @Test func theBatchesErrorComesLast() async throws {
        let (client, _) = client(failing: [1])
        let batch = client.request(Batch([GetNumber(number: 0), GetNumber(number: 1)], maxConcurrent: 1))
        var seen: [Int] = []
        let error = await #expect(throws: ErrandError.groupFailed) {
            for try await (index, _) in batch.resultsAsCompleted { seen.append(index) }
        }
        #expect(seen == [0, 1] && error?.groupFailure?.index == 1)
        // Once more, from the beginning.
        seen = []
        await #expect(throws: ErrandError.groupFailed) {
            for try await (index, _) in batch.resultsAsCompleted { seen.append(index) }
        }
        #expect(seen == [0, 1])
        // What the children gave is still there, with types and without.
        let typed = batch.results
        #expect(try typed.count == 2 && typed[0]?.get().number == 0)
        let results = (batch as AnyRequest).results
        let untyped = results.entries
        #expect(untyped.map(\.index) == [0, 1])
        #expect(results.values(of: GetNumber.self).count == 1 && results.value(of: GetNumber.self) != nil)
        #expect(throws: ErrandError.statusNotAccepted) { try untyped.last?.result.get() }
        await client.shutdown(.cancel)
    }

    @Test func leavingTheLoopStopsTheBatch() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let batch = client.request(Batch((0..<10).map(GetNumber.init), policy: .collectAll, maxConcurrent: 2))
        Task {
            let id = try await stub.opened()
            stub.complete(id, with: .response(Response(statusCode: 200, body: Array(#"{"number": 7}"#.utf8))))
        }
        for try await _ in batch.resultsAsCompleted { break }
        try await waitUntil("the batch has ended") { batch.state.isFinished }
        #expect(batch.state == .cancelled && stub.open.isEmpty)

        let running = client.start(Batch([GetNumber(number: 1)]))
        await #expect(throws: ErrandError.invalidArgument) { for try await _ in running.resultsAsCompleted {} }
        running.stop()

        let other = client.request(Batch([GetNumber(number: 1)]))
        let task = Task { for try await _ in other.resultsAsCompleted {} }
        try await waitUntil("a transfer is open") { !stub.open.isEmpty }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await waitUntil("the other request has ended") { other.state.isFinished }
        #expect(other.state == .cancelled)
        await client.shutdown(.cancel)
    }

    @Test func progressIsOfChildren() async throws {
        let (client, _) = client(failing: [2])
        let told = Notes<String>()
        let batch = client.request(Batch((0..<4).map(GetNumber.init), policy: .collectAll, maxConcurrent: 1))
        batch.onAdvance { told.add("\($0)/\($1.map(String.init) ?? "?")") }
        _ = try await batch.runWatched()
        #expect(told.all == ["1/4", "2/4", "3/4", "4/4"])
        #expect(batch.failedRequest == nil)
        #expect(batch.url == nil && batch.transferDescription == nil && batch.attempts.isEmpty && !batch.isFromCache)
        let chain = client.request(Chain([ChainStep(GetNumber(number: 1)), ChainStep(GetNumber(number: 3))]))
        chain.onAdvance { told.add("\($0)/\($1.map(String.init) ?? "?")") }
        _ = try await chain.runWatched()
        #expect(told.all.suffix(2) == ["1/?", "2/?"])
        await client.shutdown(.cancel)
    }

    /// A drain waits for groups, and lets them start what they have still to do.
    @Test func aDrainLetsGroupsEnd() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let request = client.start(Batch((0..<3).map(GetNumber.init), maxConcurrent: 1))
        async let drained: Void = client.shutdown()
        try await waitUntil("the client is shut down") { client.isShutDown }
        await #expect(throws: ErrandError.shutDown) { try await client.run(GetText(path: "x")) }
        try await waitUntil("the request has ended") {
            for id in stub.open {
                stub.complete(id, with: .response(Response(statusCode: 200, body: Array(#"{"number": 7}"#.utf8))))
            }
            return request.state.isFinished
        }
        await drained
        #expect(request.value?.values.count == 3)
    }
}
