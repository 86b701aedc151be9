import Errand
import ErrandTesting
import Testing

@testable import ErrandLogging

/// The phases of a transfer.
@Suite struct HARTimingsTests {
    private func metrics(
        queue: Int = 0, resolved: Int? = nil, connected: Int? = nil, secured: Int? = nil, sent: Int? = nil,
        firstByte: Int? = nil, total: Int, isReused: Bool = false
    ) -> TransferMetrics {
        var metrics = TransferMetrics()
        metrics.queue = .microseconds(queue)
        metrics.resolved = resolved.map { .microseconds($0) }
        metrics.connected = connected.map { .microseconds($0) }
        metrics.secured = secured.map { .microseconds($0) }
        metrics.sent = sent.map { .microseconds($0) }
        metrics.firstByte = firstByte.map { .microseconds($0) }
        metrics.total = .microseconds(total)
        metrics.isConnectionReused = isReused
        return metrics
    }

    @Test func aNewConnectionOverTLS() {
        let timings = HAR.Timings(
            metrics(queue: 5, resolved: 10, connected: 30, secured: 70, sent: 72, firstByte: 100, total: 130))
        #expect(
            timings
                == HAR.Timings(
                    blocked: .microseconds(7), dns: .microseconds(10), connect: .microseconds(60),
                    ssl: .microseconds(40), wait: .microseconds(28), receive: .microseconds(30)))
        #expect(timings.total == .microseconds(135))
    }

    /// As libcurl 7.88.1 reports it: the look-up has a time, and nothing was looked up.
    @Test func aKeptConnection() {
        let timings = HAR.Timings(metrics(resolved: 17, sent: 77, firstByte: 200, total: 220, isReused: true))
        #expect(
            timings
                == HAR.Timings(
                    blocked: .microseconds(77), wait: .microseconds(123), receive: .microseconds(20)))
    }

    @Test func aTransferThatDidNotConnect() {
        let lookup = HAR.Timings(metrics(total: 50))
        #expect(lookup.dns == .microseconds(50) && lookup.connect == nil && lookup.total == .microseconds(50))
        let connecting = HAR.Timings(metrics(resolved: 10, total: 50))
        #expect(connecting.connect == .microseconds(40) && connecting.total == .microseconds(50))
        let handshake = HAR.Timings(metrics(connected: 10, total: 50))
        #expect(handshake.connect == .microseconds(50) && handshake.total == .microseconds(50))
        let queued = HAR.Timings(metrics(queue: 9, total: 0))
        #expect(queued == HAR.Timings(blocked: .microseconds(9)))
    }

    /// Whatever libcurl reports: no phase is negative, and the sum is the whole time.
    @Test func theSumAlwaysHolds() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<5000 {
            func point() -> Int? { Bool.random(using: &random) ? Int.random(in: 0...200, using: &random) : nil }
            let queue = Int.random(in: 0...50, using: &random)
            let total = Int.random(in: 0...200, using: &random)
            let metrics = metrics(
                queue: queue, resolved: point(), connected: point(), secured: point(), sent: point(),
                firstByte: point(), total: total, isReused: Bool.random(using: &random))
            let timings = HAR.Timings(metrics)
            #expect(timings.total == .microseconds(queue + total), "\(metrics)")
            for phase in [timings.blocked, timings.dns, timings.connect, timings.ssl, timings.wait, timings.receive] {
                #expect(phase ?? .zero >= .zero, "\(metrics)")
            }
            #expect(timings.ssl ?? .zero <= timings.connect ?? .zero, "\(metrics)")
            // What is played again takes as long.
            #expect(timings.metrics.total + timings.metrics.queue == timings.total)
        }
    }
}
