import Errand
import Glibc

/// The figures of the system about this process. Linux only; figures that `/proc` does not have are 0.
enum ProcessFigures {
    /// The CPU time so far, in seconds.
    static var cpu: (user: Double, system: Double) {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ value: timeval) -> Double { Double(value.tv_sec) + Double(value.tv_usec) / 1e6 }
        return (seconds(usage.ru_utime), seconds(usage.ru_stime))
    }

    /// The largest resident set so far, in bytes. Not `ru_maxrss`, which survives `exec`.
    static var peakResidentBytes: Int { (number(after: "VmHWM:", in: "/proc/self/status") ?? 0) * 1024 }

    /// The soft limit of open descriptors.
    static var descriptorLimit: Int { number(after: "Max open files", in: "/proc/self/limits") ?? 0 }

    /// The open descriptors.
    static var descriptors: Int {
        guard let folder = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        // Without ".", ".." and the folder's own descriptor.
        return max(0, count - 3)
    }

    /// The cores that the process may use: by its affinity (`sched_setaffinity`) and by the quota of its cgroup.
    static var cores: Int {
        let list = line(after: "Cpus_allowed_list:", in: "/proc/self/status") ?? ""
        var allowed = 0
        for part in list.split(separator: ",") {
            let bounds = part.split(separator: "-").compactMap { Int($0.filter(\.isNumber)) }
            guard let first = bounds.first, let last = bounds.last, last >= first else { continue }
            allowed += last - first + 1
        }
        allowed = max(1, allowed)
        let quota = text("/sys/fs/cgroup/cpu.max").split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard quota.count == 2, quota[1] > 0 else { return allowed }
        return max(1, min(allowed, Int((quota[0] / quota[1]).rounded(.up))))
    }

    private static func number(after name: String, in path: String) -> Int? {
        line(after: name, in: path).flatMap { rest in
            rest.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) }
        }
    }

    private static func line(after name: String, in path: String) -> String? {
        text(path).split(separator: "\n").first { $0.hasPrefix(name) }.map { String($0.dropFirst(name.count)) }
    }

    private static func text(_ path: String) -> String {
        let bytes = (try? WholeFile.bytes(of: path, atMost: 1 << 20)) ?? []
        return String(decoding: bytes, as: UTF8.self)
    }
}
