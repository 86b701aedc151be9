import Foundation

/// The TCP connections of this process, as the kernel counts them.
enum OpenConnections {
    /// The number of established connections; 0 without `/proc`.
    static func count() -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        let own = Set(names.compactMap { Int32($0).flatMap(socketNumber) })
        return ["tcp", "tcp6"].reduce(0) { sum, name in
            // Reads to the end: files of `/proc` have no size, and one read returns a page of them.
            let table = try? FileHandle(forReadingAtPath: "/proc/self/net/\(name)")?.readToEnd()
            return sum
                + String(decoding: table ?? Data(), as: UTF8.self).split(separator: "\n").count { line in
                    // proc(5): the fourth column is the state, 01 for established; the tenth the inode.
                    let columns = line.split(separator: " ")
                    return columns.count > 9 && columns[3] == "01" && UInt64(columns[9]).map(own.contains) == true
                }
        }
    }

    /// The inode of a descriptor; `nil` where the descriptor is not a socket.
    private static func socketNumber(_ descriptor: Int32) -> UInt64? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
        return UInt64(status.st_ino)
    }
}
