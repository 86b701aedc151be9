import CoreMetrics
import Synchronization

/// The meters of names that come and go, such as origins, with one or more meters for each name. Names without readings
/// have no meters, and the number of names is limited. Any thread.
final class NamedMeters: Sendable {
    /// The present values of a name.
    struct Reading: Sendable {
        let name: String
        /// Whether the name comes before others if there are too many names.
        let isUrgent: Bool
        /// One for each meter of the name.
        let values: [Double]
    }

    private let limit: Int
    private let make: @Sendable (String) -> [HeldMeter]
    /// The lock is held while the backend is called: otherwise a call of ``set(_:)`` could destroy what another one has
    /// just made. Only ``ClientMetrics/collect()`` waits for it.
    private let meters = Mutex<[String: [HeldMeter]]>([:])

    init(limit: Int, make: @escaping @Sendable (String) -> [HeldMeter]) {
        self.limit = limit
        self.make = make
    }

    /// Sets the meters of these names, and closes those of all others, whose last values would stay otherwise.
    func set(_ readings: [Reading]) {
        meters.withLock { meters in
            let shown = chosen(readings, with: Set(meters.keys))
            let names = Set(shown.map { $0.name })
            for (name, old) in meters where !names.contains(name) {
                for meter in old { meter.close() }
                meters[name] = nil
            }
            for reading in shown {
                let present = meters[reading.name] ?? make(reading.name)
                meters[reading.name] = present
                for (meter, value) in zip(present, reading.values) { meter.meter.set(value) }
            }
        }
    }

    /// As many readings as there is room for: first those that are urgent, then those whose names have meters.
    private func chosen(_ readings: [Reading], with known: Set<String>) -> [Reading] {
        guard readings.count > limit else { return readings }
        func rank(_ reading: Reading) -> (Int, Int, String) {
            (reading.isUrgent ? 0 : 1, known.contains(reading.name) ? 0 : 1, reading.name)
        }
        return Array(readings.sorted { rank($0) < rank($1) }.prefix(limit))
    }
}
