import CoreMetrics
import Synchronization

/// A backend that adds up what it gets, about as cheaply as one can: an atomic step or two for each value.
final class CheapMetrics: MetricsFactory {
    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { CheapSum() }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler { CheapSum() }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        CheapSum()
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { CheapSum() }

    func destroyCounter(_ handler: any CounterHandler) {}

    func destroyMeter(_ handler: any MeterHandler) {}

    func destroyRecorder(_ handler: any RecorderHandler) {}

    func destroyTimer(_ handler: any TimerHandler) {}
}

/// The number and the sum of values, of seconds in nanoseconds.
private final class CheapSum: CounterHandler, MeterHandler, RecorderHandler, TimerHandler {
    private let count = Atomic<Int64>(0)
    private let sum = Atomic<Int64>(0)

    private func add(_ value: Int64) {
        count.wrappingAdd(1, ordering: .relaxed)
        sum.wrappingAdd(value, ordering: .relaxed)
    }

    private static func nanoseconds(_ value: Double) -> Int64 { Int64(value * 1e9) }

    func increment(by value: Int64) { add(value) }

    func increment(by value: Double) { add(Self.nanoseconds(value)) }

    func decrement(by value: Double) { add(-Self.nanoseconds(value)) }

    func set(_ value: Int64) { sum.store(value, ordering: .relaxed) }

    func set(_ value: Double) { sum.store(Self.nanoseconds(value), ordering: .relaxed) }

    func record(_ value: Int64) { add(value) }

    func record(_ value: Double) { add(Self.nanoseconds(value)) }

    func recordNanoseconds(_ duration: Int64) { add(duration) }

    func reset() { sum.store(0, ordering: .relaxed) }
}
