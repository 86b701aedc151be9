import ErrandTesting
import Testing

@testable import ErrandModel
@testable import ErrandResilience

/// Four endpoints under load in simulated time: one is slow, one dies for a minute.
@Suite struct EndpointSimulationTests {
    private typealias Machine = EndpointStateMachine

    private struct Open {
        let end: Int
        let pick: Machine.Pick
        let fails: Bool
        let latency: Int
    }

    private struct Result {
        /// Requests by second and endpoint.
        var sent: [[Int]] = Array(repeating: [0, 0, 0, 0], count: 300)
        var failures: [Int] = Array(repeating: 0, count: 300)

        func share(of endpoint: Int, _ seconds: Range<Int>) -> Double {
            let all = sent[seconds].reduce(0) { $0 + $1.reduce(0, +) }
            return Double(sent[seconds].reduce(0) { $0 + $1[endpoint] }) / Double(max(1, all))
        }

        func failures(_ seconds: Range<Int>) -> Int { failures[seconds].reduce(0, +) }
    }

    /// 100 requests a second for 300 s; a healthy endpoint answers in 20 ms, the slow one in 200 ms. The dead one fails
    /// in 1 ms, in the seconds 60..<120.
    private func run(_ policy: EndpointPolicy, seed: UInt64) throws -> (Result, EndpointSet.Counts) {
        var random = SeededGenerator(seed: seed)
        let urls = (0..<4).map { "http://e\($0):80" }
        var machine = Machine(policy, try urls.map { try Endpoint($0) })
        var result = Result()
        var open: [Open] = []
        for now in stride(from: 0, to: 300_000, by: 10) {
            func draw() -> Machine.Draw {
                .init(.random(in: 0..<1, using: &random), .random(in: 0..<1, using: &random))
            }
            for ended in open.filter({ $0.end <= now }).sorted(by: { $0.end < $1.end }) {
                let latency = Duration.milliseconds(ended.latency)
                machine.requestEnded(
                    ended.pick, ended.fails ? .failure(latency) : .success(latency), draw: draw(),
                    now: .milliseconds(ended.end))
            }
            open.removeAll { $0.end <= now }
            let pick = try machine.endpointRequested(
                key: nil, excluding: [], allowsRepeats: true, draw: draw(), now: .milliseconds(now)
            ).get()
            let endpoint = urls.firstIndex(of: pick.endpoint.url) ?? 0
            result.sent[now / 1000][endpoint] += 1
            let isDead = endpoint == 3 && (60_000..<120_000).contains(now)
            if isDead { result.failures[now / 1000] += 1 }
            let latency = isDead ? 1 : (endpoint == 0 ? 200 : 20) + Int.random(in: 0...5, using: &random)
            open.append(Open(end: now + latency, pick: pick, fails: isDead, latency: latency))
        }
        return (result, machine.counts)
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func powerOfTwo(seed: UInt64) throws {
        let (result, counts) = try run(EndpointPolicy(), seed: seed)
        // The slow one gets little, but is not forgotten.
        let slow = result.share(of: 0, 5..<60)
        #expect(slow < 0.12 && slow > 0, "\(slow)")
        // A failure counts as a long latency: the dead one is tried again only when that has decayed.
        #expect((1...12).contains(result.failures(60..<120)), "\(result.failures(60..<120))")
        #expect(result.share(of: 3, 62..<75) < 0.01)
        // When it is back, it gets its share again.
        #expect(result.share(of: 3, 240..<300) > 0.2, "\(result.share(of: 3, 240..<300))")
        #expect(counts.panics == 0)
    }

    /// In turns, the slow one gets as much as the others; the dead one is found as well.
    @Test func roundRobin() throws {
        let (result, counts) = try run(EndpointPolicy(.roundRobin), seed: 4)
        #expect(abs(result.share(of: 0, 0..<60) - 0.25) < 0.01)
        #expect(result.failures(60..<120) <= 8)
        #expect(abs(result.share(of: 3, 240..<300) - 0.25) < 0.01)
        #expect(counts.returns == 1)
    }

    /// Without outlier ejection the dead one gets requests for the whole minute.
    @Test func withoutEjection() throws {
        let (result, _) = try run(EndpointPolicy(.roundRobin, outliers: nil), seed: 5)
        #expect(result.failures(60..<120) == 1500)
    }
}
