import Errand
import Foundation
import Testing

/// Many requests at once, of which threads stop, pause, restart and drop some at random moments, in processes of their
/// own, whose descriptors and memory nobody else changes. `ERRAND_STORM_SEED` repeats a storm's picks.
@Suite(.serialized) struct RequestStormTests {
    private static let seed = ProcessInfo.processInfo.environment["ERRAND_STORM_SEED"].flatMap { UInt64($0) } ?? 2026

    @Test(.timeLimit(.minutes(20)), arguments: Storm.Plan.Watch.allCases)
    func everythingEndsOnceAndNothingIsLeft(watch: Storm.Plan.Watch) async throws {
        let servers = try StormServers()
        let plan = Storm.Plan(seed: Self.seed, requests: 10_000, watch: watch, servers: servers.addresses)
        await #expect(processExitsWith: .success) { [plan = plan as Storm.Plan] in
            await StormRunner(plan).run()
        }
        withExtendedLifetime(servers) {}
    }
}
