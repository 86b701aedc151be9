import Foundation
import Histogram

/// The output of a run, with the keys of `errand bench --json`.
struct Report: Encodable {
    struct Latency: Encodable {
        let min, mean, p50, p90, p99, p999, max: Double
    }

    let requests: Int
    let errors: Int
    let seconds: Double
    let requestsPerSecond: Double
    let bytesReceived: Int
    let cpuUserSeconds: Double
    let cpuSystemSeconds: Double
    let cpuMicrosecondsPerRequest: Double
    let peakResidentBytes: Int
    let latencyMicroseconds: Latency
    /// Pairs of a percentile and microseconds.
    let latencySpectrum: [[Double]]
    let status: [String: Int]
    let mode: String
    let connections: Int
    let loops: Int

    private static let percentiles: [Double] = [
        0, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 92.5, 95, 97.5, 98, 99, 99.5, 99.9, 99.95, 99.99, 100,
    ]

    init(
        _ result: LoadResult, from: ProcessUsage, to: ProcessUsage, mode: String, connections: Int, loops: Int
    ) {
        requests = result.requests
        errors = result.errors
        seconds = Double(to.time - from.time) / 1e9
        requestsPerSecond = seconds > 0 ? Double(result.requests - result.errors) / seconds : 0
        bytesReceived = result.bytes
        cpuUserSeconds = to.user - from.user
        cpuSystemSeconds = to.system - from.system
        cpuMicrosecondsPerRequest = (cpuUserSeconds + cpuSystemSeconds) * 1e6 / Double(Swift.max(1, result.requests))
        peakResidentBytes = ProcessUsage.peakResident
        let histogram = result.latency
        func microseconds(_ percentile: Double) -> Double {
            if histogram.totalCount == 0 { return 0 }
            return Double(percentile > 0 ? histogram.valueAtPercentile(percentile) : histogram.min) / 1e3
        }
        latencyMicroseconds = Latency(
            min: microseconds(0), mean: histogram.totalCount > 0 ? histogram.mean / 1e3 : 0,
            p50: microseconds(50), p90: microseconds(90), p99: microseconds(99), p999: microseconds(99.9),
            max: microseconds(100))
        latencySpectrum = Report.percentiles.map { [$0, microseconds($0)] }
        let counted = result.status.enumerated().filter { $0.element > 0 }
        status = Dictionary(uniqueKeysWithValues: counted.map { (String($0.offset), $0.element) })
        self.mode = mode
        self.connections = connections
        self.loops = loops
    }

    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self) + Data("\n".utf8)
    }
}
