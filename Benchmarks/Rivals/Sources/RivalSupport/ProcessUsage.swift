import Foundation

/// Wall clock and CPU time of this process at one moment.
struct ProcessUsage: Sendable {
    let time: UInt64
    let user: Double
    let system: Double

    static func read() -> ProcessUsage {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ value: timeval) -> Double {
            Double(value.tv_sec) + Double(value.tv_usec) / 1e6
        }
        return ProcessUsage(
            time: MonotonicTime.now, user: seconds(usage.ru_utime), system: seconds(usage.ru_stime))
    }

    /// The largest resident set so far, in bytes; 0 without `/proc`. Not `ru_maxrss`: that value survives `exec`, so a
    /// small process would report the peak of the process that started it. Separate from ``read()``, which is called
    /// while requests are timed.
    static var peakResidentBytes: Int {
        let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return (line.flatMap { Int($0.filter(\.isNumber)) } ?? 0) * 1024
    }
}
