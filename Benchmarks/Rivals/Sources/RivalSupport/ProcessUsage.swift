import Foundation

/// Wall clock and CPU time of this process at one moment.
struct ProcessUsage: Sendable {
    let time: UInt64
    let user: Double
    let system: Double
    /// The largest resident set so far.
    let peakResidentBytes: Int

    static func read() -> ProcessUsage {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ value: timeval) -> Double {
            Double(value.tv_sec) + Double(value.tv_usec) / 1e6
        }
        return ProcessUsage(
            time: MonotonicTime.now, user: seconds(usage.ru_utime), system: seconds(usage.ru_stime),
            peakResidentBytes: peak(usage))
    }
    /// Not `ru_maxrss`: that outlives `exec`, so that a small process has the peak of the one that started it.
    private static func peak(_ usage: rusage) -> Int {
        let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        let kilobytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
        return (kilobytes ?? usage.ru_maxrss) * 1024
    }
}
