package import Glibc

/// An error number of the system (`errno`).
package struct SystemError: Error, Hashable {
    package let number: Int32

    package init(_ number: Int32) {
        self.number = number
    }

    /// The system's text, as `No such file or directory`.
    package var text: String { String(cString: strerror(number)) }

    /// Whether the process (`EMFILE`) or the system (`ENFILE`) has no descriptor left.
    package var isOutOfDescriptors: Bool { number == EMFILE || number == ENFILE }

    /// Whether there is no space left: on the disk, in a quota or in a limit of file size.
    package var isOutOfSpace: Bool {
        switch number {
        case ENOSPC, EDQUOT, EFBIG: true
        default: false
        }
    }
}

/// Makes directories.
package enum Directories {
    /// Like `mkdir -p`. Returns `nil`, or the directory that could not be made and why: `ENOTDIR` if something else has
    /// its name.
    package static func make(_ path: String, mode: mode_t) -> (path: String, error: SystemError)? {
        if isDirectory(path) == true { return nil }
        var made = path.utf8.first == UInt8(ascii: "/") ? "/" : ""
        for part in path.split(separator: "/") {
            made += (made.isEmpty || made == "/" ? "" : "/") + part
            // Another process may have made the directory in the meantime.
            guard mkdir(made, mode) != 0 else { continue }
            let error = SystemError(errno)
            switch isDirectory(made) {
            case true?: continue
            case false?: return (made, SystemError(ENOTDIR))
            case nil: return (made, error)
            }
        }
        return nil
    }

    /// `nil`: nothing has this name.
    private static func isDirectory(_ path: String) -> Bool? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & S_IFMT == S_IFDIR : nil
    }
}
