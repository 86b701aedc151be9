import Errand
import ErrandTesting
import Testing

@testable import ErrandClient
@testable import ErrandLogging
@testable import ErrandModel

@Suite struct ProgressAccessoryTests {
    /// Outside of the macro, whose argument cannot change anything.
    private func report(
        _ meter: inout ProgressMeter, _ bytes: UInt64, of total: UInt64?, at moment: Duration
    ) throws -> ProgressReport {
        let report = meter.moved(bytes, of: total, at: moment)
        return try #require(report)
    }

    @Test func rateAndTimeLeft() throws {
        var meter = ProgressMeter(start: .zero)
        let first = try report(&meter, 100, of: 1000, at: .seconds(1))
        #expect(first.fraction == 0.1 && first.bytesPerSecond == 100 && first.timeLeft == .seconds(9))
        let unchanged = meter.moved(100, of: 1000, at: .seconds(2))
        #expect(unchanged == nil)
        let second = try report(&meter, 400, of: 1000, at: .seconds(2))
        #expect(second.bytesPerSecond == 200 && second.timeLeft == .seconds(3))
        let last = try report(&meter, 1000, of: 1000, at: .seconds(4))
        #expect(last.fraction == 1 && last.timeLeft == .zero)
    }

    @Test func theRateForgetsWhatIsLongAgo() throws {
        var meter = ProgressMeter(start: .zero)
        _ = meter.moved(1_000_000, of: nil, at: .seconds(1))
        for second in 2...20 {
            _ = meter.moved(1_000_000 + UInt64(second) * 10, of: nil, at: .seconds(second))
        }
        let report = try report(&meter, 1_000_210, of: nil, at: .seconds(21))
        #expect(report.bytesPerSecond == 10 && report.fraction == nil && report.timeLeft == nil)
    }

    @Test func oddNumbersAreBorne() throws {
        var meter = ProgressMeter(start: .zero)
        let none = try report(&meter, 0, of: 0, at: .zero)
        #expect(none.fraction == 1 && none.timeLeft == .zero && none.bytesPerSecond == nil)
        let atOnce = try report(&meter, 5, of: 10, at: .zero)
        #expect(atOnce.bytesPerSecond == nil && atOnce.timeLeft == nil)
        let slow = try report(&meter, 6, of: .max, at: .seconds(100))
        #expect(slow.timeLeft == nil)
        let more = try report(&meter, 12, of: 10, at: .seconds(101))
        #expect(more.fraction == 1 && more.timeLeft == .zero)
        let back = try report(&meter, 3, of: 10, at: .seconds(102))
        #expect(back.bytesPerSecond == nil && back.bytes == 3)
    }

    @Test func tellsEachDirectionAndCountsAnewAfterAHop() async {
        let progress = [
            TransferProgress(bytesSent: 4, bytesReceived: 0, bytesToSend: 4, bytesToReceive: nil),
            TransferProgress(bytesSent: 4, bytesReceived: 6, bytesToSend: 4, bytesToReceive: 6),
        ]
        let expected: [(ProgressAccessory.Direction, [UInt64], [Double?])] = [
            (.upload, [4], [1]), (.download, [0, 6], [nil, 1]), (.both, [4, 10], [nil, 1]),
        ]
        for (direction, bytes, fractions) in expected {
            let told = Notes<ProgressReport>()
            let clock = ManualClock()
            let accessory = ProgressAccessory(direction, clock: clock) { told.add($0) }
            let client = Client.stubbed(StubTransport())
            let request = client.request(GetText())
            // Before the start and after the end nothing is told.
            accessory.request(request, did: .progress(progress[0]))
            accessory.requestWillStart(request)
            for step in progress { accessory.request(request, did: .progress(step)) }
            #expect(told.all.map(\.bytes) == bytes && told.all.map(\.fraction) == fractions)
            accessory.request(
                request, did: .redirected(Attempt(number: 1, url: "", response: nil, error: nil), to: ""))
            clock.advance(by: .seconds(2))
            accessory.request(request, did: .progress(progress[1]))
            #expect(told.all.count == bytes.count + 1)
            accessory.requestWillStop(request)
            accessory.request(request, did: .progress(progress[0]))
            #expect(told.all.count == bytes.count + 1)
            await client.shutdown(.cancel)
        }
    }
}
