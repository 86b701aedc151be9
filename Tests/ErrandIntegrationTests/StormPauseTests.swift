import Errand
import ErrandTesting
import Foundation
import Testing

/// Pauses at moments that no caller sees.
@Suite(.serialized) struct StormPauseTests {
    /// A kept connection is reset, the engine sends again on a new one, and is paused and resumed while that connects.
    /// The resume comes to the engine in the turn in which the connection is ready: a pause that libcurl took while it
    /// connected must not outlive it.
    @Test(.timeLimit(.minutes(20))) func aPauseWhileConnectingAgainEndsWithItsResume() async throws {
        let rounds = 1500
        let server = try ScriptedServer()
        let answer = ScriptedServer.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        try server.on("/first", [answer])
        for round in 0..<rounds {
            try server.on("/\(round)", [round.isMultiple(of: 2) ? .reset : .close])
            try server.on("/\(round)", [answer])
        }
        let configuration = Client.Configuration.patient(baseURL: server.url("/"), loops: 1)
        try await Client.with(Client(configuration: configuration)) { client in
            // On a thread of its own: where other tests block the pool's threads, 3,000 waits for one take too long.
            let problem = await withCheckedContinuation { continuation in
                Thread.detachNewThread { continuation.resume(returning: Self.problem(in: rounds, of: client)) }
            }
            #expect(problem == nil)
        }
    }

    /// Runs the rounds, and says what went wrong.
    private static func problem(in rounds: Int, of client: Client) -> String? {
        var random = StormRandom(seed: 2026)
        for round in 0..<rounds {
            let ended = DispatchSemaphore(value: 0)
            let first = client.start(Get(path: "first"), completion: { _ in ended.signal() })
            guard ended.wait(timeout: .now() + .seconds(600)) == .success else { return "round \(round): no first end" }
            if let error = first.error { return "round \(round), first: \(error)" }
            let request = client.request(Get(path: "\(round)", timeouts: Timeouts(idle: .seconds(60))))
            let (before, between) = (random.below(200), random.below(60))
            request.start(completion: { _ in ended.signal() })
            spin(microseconds: before)
            request.pause()
            spin(microseconds: between)
            request.resume()
            guard ended.wait(timeout: .now() + .seconds(600)) == .success else { return "round \(round): no end" }
            if request.error == .timeoutIdle { return "round \(round): \(String(describing: request.error))" }
        }
        return nil
    }

    /// Sleeping takes longer than what is waited for.
    private static func spin(microseconds: Int) {
        let end = ContinuousClock.now + .microseconds(microseconds)
        while ContinuousClock.now < end {}
    }
}
