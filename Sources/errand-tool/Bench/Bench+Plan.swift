import Errand
import Foundation
import HTTPTypes

extension Bench {
    /// Checks all options; each mistake has its own message.
    func plan() throws -> BenchPlan {
        try check(connections, 1...100_000, "-c")
        try check(requests, 1...Int.max / 4, "-n")
        try check(warmUp, 0...Int.max / 4, "--warm-up")
        try check(loops, 1...64, "--loops")
        if let rate, !OpenLoop.rates.contains(rate) {
            throw ToolError(.usage, "--rate is \(rate), expected 0.001 to 10,000,000 requests per second")
        }
        if let tick, rate == nil || tick.duration > .seconds(1) {
            throw ToolError(.usage, "--tick is limited to 1s and requires --rate")
        }
        if cache != nil, mode == .core {
            throw ToolError(.usage, "--cache cannot be used with --mode core, which has no cache")
        }
        if let cacert, let reason = FileCheck.whyUnreadable(cacert) {
            throw ToolError(.inputFile, "--cacert \(cacert): \(reason)")
        }
        let duration = try measuredTime()
        let body = try data.map { text throws(ToolError) in try BodyArgument(text).load() }
        var fields = HTTPFields()
        for header in headers {
            fields.append(try HTTPField.checked(name: header.name, value: header.value))
        }
        if body != nil, fields[.contentType] == nil {
            fields[.contentType] = "application/x-www-form-urlencoded"
        }
        let name = method ?? (body == nil ? "GET" : "POST")
        guard let method = HTTPRequest.Method(rawValue: name) else {
            throw ErrandError.invalidMethod.with(message: "'\(name)' is not an HTTP method")
        }
        let count = requests ?? (duration == nil ? 10_000 : nil)
        let (warmUp, warmUpTime) = warmUp(count, duration)
        return BenchPlan(
            requests: count.map(UInt64.init), duration: duration, warmUp: UInt64(warmUp),
            warmUpTime: warmUpTime, rate: rate, tick: tick?.duration.nanoseconds ?? 0, connections: connections,
            loops: loops ?? 0, mode: mode, cache: cache,
            method: method, url: url.text, headers: fields,
            body: body, timeout: timeout.duration, httpVersion: httpVersion, caFile: cacert, insecure: insecure)
    }

    /// By default the warm-up is short compared with the run, however few requests the run has and however slow the
    /// server is.
    private func warmUp(_ count: Int?, _ duration: Duration?) -> (count: Int, time: Duration?) {
        if let warmUp { return (warmUp, nil) }
        var expected = count.map(Double.init) ?? .infinity
        if let rate, let duration { expected = min(expected, rate * Double(duration.nanoseconds) / 1e9) }
        let count = Int(min(expected / 20, Double(connections) * 10, 5000))
        return (count, min(.seconds(1), duration.map { $0 / 10 } ?? .seconds(1)))
    }

    /// `-d` means a body in curl and a duration in wrk and hey. Here it is always a duration with a unit.
    private func measuredTime() throws(ToolError) -> Duration? {
        guard let duration else { return nil }
        guard let time = DurationArgument(argument: duration), time.hasUnit else {
            throw ToolError(
                .usage,
                "-d '\(duration)' is not a duration with a unit, such as 10s, 500ms or 1.5m; --data sets the body")
        }
        return time.duration
    }

    private func check(_ value: Int?, _ range: ClosedRange<Int>, _ name: String) throws(ToolError) {
        guard let value, !range.contains(value) else { return }
        let upper = range.upperBound > 1_000_000 ? "or more" : "to \(range.upperBound.grouped)"
        throw ToolError(.usage, "\(name) is \(value), expected \(range.lowerBound) \(upper)")
    }
}
