import Foundation

/// What the process holds at this moment.
struct StormProcess {
    /// Open descriptors and where they lead.
    let descriptors: [String]
    /// Threads of the engine.
    let engineThreads: Int
    /// Bytes of the heap that are allocated.
    let heap: Int

    init() {
        let files = FileManager.default
        descriptors = ((try? files.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []).compactMap { number in
            // The listing's own is closed by now. A file that the parent left open may be renamed or removed there
            // meanwhile, so files count by their inode.
            guard let target = try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)") else {
                return nil
            }
            var status = stat()
            guard target.hasPrefix("/"), let descriptor = Int32(number), fstat(descriptor, &status) == 0 else {
                return "\(number) \(target)"
            }
            return "\(number) inode \(status.st_dev):\(status.st_ino)"
        }
        let threads = (try? files.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        engineThreads = threads.count { thread in
            let name = try? String(contentsOfFile: "/proc/self/task/\(thread)/comm", encoding: .utf8)
            return name?.hasPrefix("errand-") == true
        }
        heap = Self.heapInUse()
    }

    /// Resident memory would do, but for pages that the allocator keeps for a few bytes each: this one is exact.
    private static func heapInUse() -> Int {
        var text: UnsafeMutablePointer<CChar>?
        var length = 0
        guard let file = open_memstream(&text, &length) else { return 0 }
        _ = heapReport(0, file)
        fclose(file)
        guard let text else { return 0 }
        defer { free(text) }
        // The totals of all arenas come last.
        let totals = String(cString: text).components(separatedBy: "</heap>").last ?? ""
        func bytes(_ kind: String) -> Int {
            let line = totals.split(separator: "\n").first { $0.contains(kind) }
            return (line?.components(separatedBy: "size=\"").last?.split(separator: "\"").first).flatMap { Int($0) }
                ?? 0
        }
        let held = bytes("<system type=\"current\"") + bytes("<total type=\"mmap\"")
        return held - bytes("<total type=\"rest\"") - bytes("<total type=\"fast\"")
    }

    /// A sanitizer's allocator reports nothing.
    static var isSanitized: Bool {
        dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
    }
}

/// glibc's `malloc_info`, which Foundation does not import.
@_silgen_name("malloc_info")
private func heapReport(_ options: Int32, _ file: UnsafeMutablePointer<FILE>) -> Int32
