import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandGroups
@testable import ErrandModel

/// Times that are not the engine's to count go by the client's clock.
@Suite(.timeLimit(.minutes(20))) struct ClientClockTests {
    private let stub = StubTransport()
    private let clock = ManualClock()

    private func client(_ change: (inout Client.Configuration) -> Void = { _ in }) -> Client {
        Client.stubbed(stub) {
            $0.clock = clock
            change(&$0)
        }
    }

    private static let hour: RequestOverrides = {
        var overrides = RequestOverrides()
        overrides.timeouts = Timeouts(total: .seconds(3600))
        return overrides
    }()

    @Test func theTotalTimeOfAGroup() async throws {
        let client = client()
        let task = Task { try await client.run(Batch([GetText()]), overrides: Self.hour) }
        await clock.sleepers(1)
        // The group starts its timer before it sends the child.
        _ = try await stub.opened()
        clock.advance(by: .seconds(3599))
        await client.callbacksDrained()
        #expect(stub.open.count == 1)
        clock.advance(by: .seconds(1))
        await #expect(throws: ErrandError.timeoutTotal) { try await task.value }
        await client.shutdown(.cancel)
    }

    @Test func theDelayOfAChain() async throws {
        let client = client()
        let task = Task {
            try await client.run(
                Chain([ChainStep(GetText()) { turn in if turn.runs < 2 { turn.again(after: .seconds(3600)) } }]))
        }
        stub.complete(try await stub.opened(), with: .response(Response(statusCode: 200)))
        await clock.sleepers(1)
        #expect(stub.submitted.count == 1)
        clock.advance(by: .seconds(3600))
        stub.complete(try await stub.opened(), with: .response(Response(statusCode: 200)))
        _ = try await task.value
        await client.shutdown(.cancel)
    }

    private struct Waiting: PreparingInterceptor {
        let gate: Gate
        func prepare(
            _ request: RequestDescription, in context: InterceptionContext
        ) async throws -> RequestDescription {
            await gate.pass()
            return request
        }
    }

    @Test func theDeadlineOfAnInterceptor() async throws {
        let gate = Gate()
        let client = client { $0.interceptors = [Waiting(gate: gate)] }
        let task = Task { try await client.run(GetText(), overrides: Self.hour) }
        await gate.arrivals(1)
        await clock.sleepers(1)
        clock.advance(by: .seconds(3600))
        await #expect(throws: ErrandError.timeoutTotal) { try await task.value }
        #expect(stub.submitted.isEmpty)
        await gate.open()
        await client.shutdown(.cancel)
    }

    /// What an interceptor has used up is not the transfer's any more.
    @Test func whatIsLeftAfterAnInterceptor() async throws {
        let gate = Gate()
        let client = client { $0.interceptors = [Waiting(gate: gate)] }
        let task = Task { try await client.run(GetText(), overrides: Self.hour) }
        await gate.arrivals(1)
        await clock.sleepers(1)
        clock.advance(by: .seconds(3000))
        await gate.open()
        let id = try await stub.opened()
        #expect(stub.submitted.first?.settings.timeouts.total == .seconds(600))
        stub.complete(id, with: .response(Response(statusCode: 200)))
        _ = try await task.value
        await client.shutdown(.cancel)
    }
}
