import Errand
import Foundation
import HTTPTypes

extension Bench {
    /// Checks all options; each mistake has its own message.
    func plan(_ url: URLArgument) throws -> BenchPlan {
        try checkCounts()
        if case .requests(let count)? = warmUp { try check(count, 0...Int.max / 4, "--warm-up") }
        if case .time(let time)? = warmUp, time > .zero, mode == .batch {
            throw ToolError(.usage, "--warm-up with --mode batch requires a number of requests")
        }
        try checkRate()
        if let tick, rate == nil || tick.duration > .seconds(1) {
            throw ToolError(.usage, "--tick is limited to 1s and requires --rate")
        }
        if cache != nil, mode == .core {
            throw ToolError(.usage, "--cache cannot be used with --mode core, which has no cache")
        }
        let settings = try resilience.settings(mode)
        let duration = try measuredTime()
        let connection = try connection()
        let (address, body, fields, method) = try request(url)
        let count = requests ?? (duration == nil ? 10_000 : nil)
        let (warmUp, warmUpTime) = warmUpLimits(count, duration)
        var plan = BenchPlan(
            requests: count.map(UInt64.init), duration: duration, warmUp: UInt64(warmUp),
            warmUpTime: warmUpTime, rate: rate, tick: tick?.duration.nanoseconds ?? 0, connections: connections,
            loops: loops ?? 0, mode: mode, cache: cache,
            method: method, url: address, headers: fields,
            body: body, timeout: timeout.duration, httpVersion: httpVersion, caFile: cacert, insecure: insecure,
            resilience: settings)
        plan.given = connection
        plan.streams = streams
        return plan
    }

    /// The options that all requests of a run share, except those of their connections.
    func checkCounts() throws(ToolError) {
        try check(connections, 1...100_000, "-c")
        try check(requests, 1...Int.max / 4, "-n")
        try check(loops, 1...64, "--loops")
        try check(streams, 1...1_000_000, "--streams")
    }

    func checkRate() throws(ToolError) {
        guard let rate, !OpenLoop.rates.contains(rate) else { return }
        throw ToolError(.usage, "--rate is \(rate), expected 0.001 to 10,000,000 requests per second")
    }

    func connection() throws(ToolError) -> ConnectionOptions {
        try way.connection(httpVersion: httpVersion, cacert: cacert, insecure: insecure)
    }

    /// The parts of a request to that URL. A user in the URL is sent as Basic, unless the command line names another
    /// user.
    func request(
        _ url: URLArgument
    ) throws -> (url: String, body: Data?, fields: HTTPFields, method: HTTPRequest.Method) {
        let body = try data.map { text throws(ToolError) in try BodyArgument(text).load() }
        var fields = HTTPFields()
        for header in headers {
            fields.append(try HTTPField.checked(name: header.name, value: header.value))
        }
        if body != nil, fields[.contentType] == nil {
            fields[.contentType] = "application/x-www-form-urlencoded"
        }
        if user != nil, bearer != nil { throw ToolError(.usage, "--user and --bearer exclude each other") }
        let (address, own) = url.withoutUser
        if fields[.authorization] == nil {
            if let bearer {
                fields.append(try HTTPField.checked(name: "Authorization", value: "Bearer " + bearer))
            } else if let user = user ?? own {
                let pair = Data("\(user.user):\(user.password)".utf8).base64EncodedString()
                fields.append(try HTTPField.checked(name: "Authorization", value: "Basic " + pair))
            }
        }
        let name = method ?? (body == nil ? "GET" : "POST")
        guard let method = HTTPRequest.Method(rawValue: name) else {
            throw ErrandError.invalidMethod.with(message: "'\(name)' is not an HTTP method")
        }
        return (own == nil ? url.text : address, body, fields, method)
    }

    /// By default the warm-up is short compared with the run, however few requests the run has and however slow the
    /// server is.
    private func warmUpLimits(_ count: Int?, _ duration: Duration?) -> (count: Int, time: Duration?) {
        switch warmUp {
        case .requests(let count): return (count, nil)
        case .time(let time): return time == .zero ? (0, nil) : (Int.max / 4, time)
        case nil: break
        }
        var expected = count.map(Double.init) ?? .infinity
        if let rate, let duration { expected = min(expected, rate * Double(duration.nanoseconds) / 1e9) }
        let count = Int(min(expected / 20, Double(connections) * 10, 5000))
        return (count, min(.seconds(1), duration.map { $0 / 10 } ?? .seconds(1)))
    }

    /// In curl, `-d` means a body; in wrk and hey, it means a duration. Here it is always a duration with a unit.
    func measuredTime() throws(ToolError) -> Duration? {
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
