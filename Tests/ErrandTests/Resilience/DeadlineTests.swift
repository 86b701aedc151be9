import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandResilience

@Suite struct DeadlineTests {
    private let now = ContinuousClock.now

    @Test func remainingTime() {
        let deadline = Deadline.after(.seconds(2), from: now)
        #expect(deadline.remaining(at: now) == .seconds(2))
        #expect(deadline.remaining(at: now + .milliseconds(1500)) == .milliseconds(500))
        #expect(deadline.remaining(at: now + .seconds(9)) == .zero)
        #expect(!deadline.hasPassed(at: now) && deadline.hasPassed(at: now + .seconds(2)))
        #expect(deadline.reading(of: .seconds(100), at: now) == .seconds(102))
        #expect(deadline.reading(of: .seconds(100), at: now + .seconds(5)) == .seconds(100))
        #expect(deadline.reading(of: .seconds(Int64.max), at: now) > .zero)
    }

    @Test func timesOutOfRangeAreClamped() {
        #expect(Deadline.after(.seconds(-5), from: now).hasPassed(at: now))
        #expect(Deadline.after(.zero, from: now).remaining(at: now) == .zero)
        #expect(Deadline.after(.seconds(Int64.max), from: now).remaining(at: now) == .longestSleep)
    }

    @Test func theEarlierOneApplies() {
        let early = Deadline.after(.seconds(1), from: now)
        let late = Deadline.after(.seconds(2), from: now)
        #expect(early < late)
        #expect(early.earlier(late) == early && late.earlier(early) == early && late.earlier(nil) == late)
    }

    @Test func aCalleeCannotExtendTheTimeOfItsCaller() async {
        let early = Deadline.after(.seconds(1), from: now)
        let late = Deadline.after(.seconds(2), from: now)
        #expect(Deadline.current == nil)
        Deadline.limit(to: late) {
            #expect(Deadline.current == late)
            Deadline.limit(to: early) { #expect(Deadline.current == early) }
            #expect(Deadline.current == late)
        }
        await Deadline.limit(to: early) {
            await Deadline.limit(to: late) {
                await Task.yield()
                #expect(Deadline.current == early)
                await Task { #expect(Deadline.current == early) }.value
            }
        }
        #expect(Deadline.current == nil)
    }

    @Test(
        arguments: [
            (.nanoseconds(1), "1n"), (.microseconds(99_999), "99999000n"), (.microseconds(100_000), "100000u"),
            (.milliseconds(1500), "1500000u"), (.seconds(99), "99000000u"), (.seconds(100), "100000m"),
            (.seconds(86_400), "86400000m"), (.seconds(100_000), "100000S"), (.seconds(Int64.max), "2592000S"),
            (.zero, nil), (.seconds(-1), nil), (Duration(secondsComponent: 0, attosecondsComponent: 999_999_999), nil),
        ] as [(Duration, String?)])
    func grpcTimeoutIsWritten(time: Duration, value: String?) {
        #expect(DeadlineHeader.grpcTimeout.value(remaining: time) == value)
    }

    @Test(
        arguments: [
            ("1n", .nanoseconds(1)), ("1500m", .milliseconds(1500)), ("2S", .seconds(2)), ("3M", .seconds(180)),
            ("1H", .seconds(3600)), ("99999999H", DeadlineHeader.longest), ("0m", .zero), ("  7u\t", .microseconds(7)),
            ("100000000n", nil), ("m", nil), ("", nil), ("5", nil), ("5s", nil), ("-5m", nil), ("+5m", nil),
            ("5 m", nil), ("1.5S", nil), ("٣m", nil), ("5mm", nil),
        ] as [(String, Duration?)])
    func grpcTimeoutIsRead(value: String, time: Duration?) {
        #expect(DeadlineHeader.grpcTimeout.remaining(value: value) == time)
    }

    @Test(
        arguments: [
            ("0", .zero), ("1", .milliseconds(1)), ("1500", .milliseconds(1500)),
            ("2592000001", DeadlineHeader.longest),
            ("9223372036854775807", DeadlineHeader.longest), ("9223372036854775808", nil),
            ("99999999999999999999", nil), ("-1", nil), ("1.5", nil), ("1500ms", nil), ("", nil), (" ", nil),
        ] as [(String, Duration?)])
    func millisecondsAreRead(value: String, time: Duration?) {
        #expect(DeadlineHeader.requestTimeout.remaining(value: value) == time)
    }

    @Test func millisecondsAreWritten() {
        let header = DeadlineHeader.requestTimeout
        #expect(header.value(remaining: .microseconds(1999)) == "1")
        #expect(header.value(remaining: .microseconds(999)) == nil)
        #expect(header.value(remaining: .seconds(Int64.max)) == "2592000000")
        let envoy = HTTPField.Name("x-envoy-expected-rq-timeout-ms")
        let field = DeadlineHeader.milliseconds(envoy).field(remaining: .seconds(1))
        #expect(field == HTTPField(name: envoy, value: "1000"))
    }

    @Test func fields() {
        let name = HTTPField.Name("grpc-timeout")
        var fields = HTTPFields()
        #expect(DeadlineHeader.grpcTimeout.remaining(in: fields) == nil)
        fields[name] = "5S"
        #expect(DeadlineHeader.grpcTimeout.remaining(in: fields) == .seconds(5))
        fields.append(HTTPField(name: name, value: "9S"))
        #expect(DeadlineHeader.grpcTimeout.remaining(in: fields) == nil)
        #expect(DeadlineHeader.grpcTimeout.field(remaining: .seconds(5))?.name == name)
    }

    /// What was written is read as at most the original, and at least as much within one unit of eight digits.
    @Test(arguments: 0..<10 as Range<UInt64>)
    func randomTimesSurvive(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let exponent = Double.random(in: 0...15.4, using: &random)
            var power = 1.0
            for _ in 0..<Int(exponent) { power *= 10 }
            let time = Duration.nanoseconds(Int64(power * Double.random(in: 1..<2.5, using: &random)))
            for header in [DeadlineHeader.grpcTimeout, .requestTimeout] {
                guard let value = header.value(remaining: time) else {
                    #expect(time < .milliseconds(1))
                    continue
                }
                let read = try #require(header.remaining(value: value))
                #expect(read <= time)
                let loss = header == .grpcTimeout ? time / 99_999 : .milliseconds(1)
                #expect(min(time, DeadlineHeader.longest) - read <= loss)
            }
        }
    }
}
