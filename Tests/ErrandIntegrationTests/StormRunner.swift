import Errand
import ErrandTesting
import Foundation
import Testing

/// Runs the storms of one process, and looks at the process before, between and after.
struct StormRunner {
    private let plan: Storm.Plan

    init(_ plan: Storm.Plan) {
        self.plan = plan
    }

    /// So many bytes a request may stay allocated when its client is gone: what the runtime keeps for later, no more than
    /// the least object.
    private static let bytesLeftPerRequest = 48

    func run() async {
        // What a process makes once or twice, such as the queues' own descriptors and the runtime's caches.
        await storm(requests: 400, seed: plan.seed &+ 1000)
        await storm(requests: plan.requests / 4, seed: plan.seed &+ 2000)
        let before = StormProcess()
        await storm(requests: plan.requests, seed: plan.seed)
        var after = StormProcess()
        // A thread that was joined may be listed for a moment more.
        try? await waitUntil("no thread of the engine is left") {
            after = StormProcess()
            return after.engineThreads == 0
        }
        #expect(
            after.descriptors == before.descriptors, "before \(before.descriptors), after \(after.descriptors)")
        #expect(after.engineThreads == 0)
        guard !StormProcess.isSanitized else { return }
        var left = after.heap - before.heap
        // Other tests of the process run meanwhile, and keep memory too. What a request leaves is left by each storm.
        for round in 1...2 where left >= plan.requests * Self.bytesLeftPerRequest {
            let start = StormProcess()
            await storm(requests: plan.requests, seed: plan.seed &+ UInt64(round))
            left = StormProcess().heap - start.heap
        }
        #expect(left < plan.requests * Self.bytesLeftPerRequest, "\(left) bytes are left of \(plan.requests) requests")
    }

    private func storm(requests: Int, seed: UInt64) async {
        weak var dropped: Client?
        do {
            let ledger = StormLedger(reportsStops: plan.watch == .everybody)
            let census = StormCensus(ledger)
            let callbacks = plan.watch == .inline ? CallbackQueue.inline() : .serial()
            let client = Client(configuration: configuration(callbacks, census))
            dropped = client
            var plan = plan
            plan.requests = requests
            plan.seed = seed
            let storm = Storm(plan, client, callbacks, ledger)
            await storm.rage()
            let left = await storm.calm(within: .seconds(600))
            #expect(left.isEmpty, "seed \(seed): \(left.prefix(10))")
            storm.settle()
            await client.shutdown(.drain(within: .seconds(600)))
            #expect(client.requests.isEmpty && census.open == 0)
            await #expect(throws: ErrandError.shutDown) { try await client.run(RawCommand(url: plan.servers.site)) }
            let totals = ledger.totals
            #expect(
                totals.problems.isEmpty,
                "\(totals.problemCount) with the seed \(seed): \(totals.problems.joined(separator: "; "))")
            if requests >= 5000 { expectVariety(totals) }
        }
        try? await waitUntil("the client is gone") { dropped == nil }
        #expect(dropped == nil)
    }

    /// A storm in which everything is stopped at once, or nothing is, shows nothing.
    private func expectVariety(_ totals: StormLedger.Totals) {
        let stopped = plan.watch == .everybody ? "cancelled" : "stopped silently"
        let frequent = ["succeeded", "cancelled", stopped, "statusNotAccepted"]
        let rare = ["connectFailed", "connectionLost", "partialBody", "timeoutTotal", "dropped"]
        for ending in frequent + rare {
            let least = totals.starts / (frequent.contains(ending) ? 100 : 1000)
            #expect(totals.endings[ending, default: 0] >= least, "\(ending): \(totals.endings)")
        }
        #expect(totals.refusedStarts > totals.starts / 100)
    }

    private func configuration(_ callbacks: CallbackQueue, _ census: StormCensus) -> Client.Configuration {
        var configuration = Client.Configuration(callbackQueue: callbacks, loops: 2)
        if plan.watch == .everybody {
            configuration.reportsStops = true
            configuration.accessories = [census]
            configuration.interceptors = [StormDelay(microseconds: 100)]
        }
        return configuration
    }
}
