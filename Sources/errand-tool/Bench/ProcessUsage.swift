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

    /// The largest resident set so far, in bytes; 0 without `/proc`. `ru_maxrss` is not used: that value survives
    /// `exec`, so a small process would report the peak of the process that started it. This is separate from
    /// ``read()``, which is called while requests are timed.
    static var peakResident: Int {
        let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return (line.flatMap { Int($0.filter(\.isNumber)) } ?? 0) * 1024
    }
}

/// The TCP connections of this process, as the kernel counts them.
enum OpenConnections {
    /// The number of established connections; 0 without `/proc`.
    static func count() -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        let own = Set(names.compactMap { Int32($0).flatMap(socketNumber) })
        return ["tcp", "tcp6"].reduce(0) { sum, name in
            // Reads to the end: files of `/proc` report no size, and one read returns only a page of them.
            let table = try? FileHandle(forReadingAtPath: "/proc/self/net/\(name)")?.readToEnd()
            return sum
                + String(decoding: table ?? Data(), as: UTF8.self).split(separator: "\n").count { line in
                    // proc(5): the fourth column is the state (01 is established), the tenth is the inode.
                    let columns = line.split(separator: " ")
                    return columns.count > 9 && columns[3] == "01" && UInt64(columns[9]).map(own.contains) == true
                }
        }
    }

    /// The inode of a socket's descriptor; `nil` if the descriptor is not a socket.
    private static func socketNumber(_ descriptor: Int32) -> UInt64? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
        return UInt64(status.st_ino)
    }
}
