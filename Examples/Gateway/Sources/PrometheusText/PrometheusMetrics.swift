package import CoreMetrics
import Synchronization

/// The metrics of swift-metrics in the text format of Prometheus. May be used on any thread.
package final class PrometheusMetrics: MetricsFactory {
    private enum Kind: String, Sendable { case counter, gauge, histogram }

    private struct Family: Sendable {
        let kind: Kind
        var series: [String: Series] = [:]
    }

    private let buckets: [Double]
    private let families = Mutex<[String: Family]>([:])

    /// `buckets`: the upper bounds of all histograms.
    package init(buckets: [Double]) {
        self.buckets = buckets
    }

    package var text: String {
        var lines: [String] = []
        for (name, family) in families.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
            lines.append("# TYPE \(name) \(family.kind.rawValue)")
            for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
                lines += series.lines(name, labels)
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func series(_ kind: Kind, _ label: String, _ dimensions: [(String, String)]) -> Series {
        let name = Self.name(label)
        let labels = dimensions.map { "\(Self.name($0.0))=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
        let bounds = kind == .histogram ? buckets : []
        return families.withLock { families -> Series in
            if let found = families[name]?.series[labels] { return found }
            let made = Series(bounds)
            families[name, default: Family(kind: kind)].series[labels] = made
            return made
        }
    }

    private static func name(_ label: String) -> String {
        String(label.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(.counter, label, dimensions)
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(.gauge, label, dimensions)
    }

    package func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        series(aggregate ? .histogram : .gauge, label, dimensions)
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(.histogram, label, dimensions)
    }

    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyMeter(_ handler: any MeterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}
}

/// The values of one set of labels: a counter, a gauge or a histogram.
private final class Series: CounterHandler, MeterHandler, RecorderHandler, TimerHandler {
    private struct State: Sendable {
        var sum = 0.0
        var counts: [Int]
    }

    /// Empty: this is not a histogram.
    private let bounds: [Double]
    private let state: Mutex<State>

    init(_ bounds: [Double]) {
        self.bounds = bounds
        state = Mutex(State(counts: [Int](repeating: 0, count: bounds.count + 1)))
    }

    func increment(by amount: Int64) { increment(by: Double(amount)) }
    func increment(by amount: Double) { state.withLock { $0.sum += amount } }
    func decrement(by amount: Double) { increment(by: -amount) }
    func reset() { set(0.0) }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { state.withLock { $0.sum = value } }
    func record(_ value: Int64) { record(Double(value)) }
    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    func record(_ value: Double) {
        guard !bounds.isEmpty else { return set(value) }
        let place = bounds.firstIndex { value <= $0 } ?? bounds.count
        state.withLock { state in
            state.sum += value
            state.counts[place] += 1
        }
    }

    func lines(_ name: String, _ labels: String) -> [String] {
        let state = state.withLock { $0 }
        let braces = labels.isEmpty ? "" : "{\(labels)}"
        guard !bounds.isEmpty else { return ["\(name)\(braces) \(state.sum)"] }
        let before = labels.isEmpty ? "" : labels + ","
        var count = 0
        var lines: [String] = []
        for (bound, more) in zip(bounds.map { "\($0)" } + ["+Inf"], state.counts) {
            count += more
            lines.append("\(name)_bucket{\(before)le=\"\(bound)\"} \(count)")
        }
        return lines + ["\(name)_sum\(braces) \(state.sum)", "\(name)_count\(braces) \(count)"]
    }
}
