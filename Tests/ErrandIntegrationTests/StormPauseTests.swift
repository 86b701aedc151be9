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
        var random = StormRandom(seed: 2026)
        let configuration = Client.Configuration.patient(baseURL: server.url("/"), loops: 1)
        try await Client.with(Client(configuration: configuration)) { client in
            for round in 0..<rounds {
                _ = try await client.run(Get(path: "first"))
                let request = client.request(Get(path: "\(round)", timeouts: Timeouts(idle: .seconds(60))))
                let (before, between) = (random.below(200), random.below(60))
                await withCheckedContinuation { continuation in
                    request.start(completion: { _ in continuation.resume() })
                    Self.spin(microseconds: before)
                    request.pause()
                    Self.spin(microseconds: between)
                    request.resume()
                }
                try #require(request.error != .timeoutIdle, "round \(round): \(String(describing: request.error))")
            }
        }
    }

    /// Sleeping takes longer than what is waited for.
    private static func spin(microseconds: Int) {
        let end = ContinuousClock.now + .microseconds(microseconds)
        while ContinuousClock.now < end {}
    }
}
