import Foundation

/// Reads and writes complete data. Not FileHandle, which traps when the system call fails.
enum Descriptor {
    /// Opens each of the descriptors 0, 1 and 2 that was closed when the tool was started (`>&-`). Otherwise the engine
    /// would get such a number for one of its descriptors, and output would be written into it. The descriptors are
    /// opened with the opposite access mode, so that reads and writes fail as they would on a closed descriptor.
    static func holdStandard() {
        for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(number, F_GETFD) < 0 {
            // `open` returns the lowest free number, which is this one.
            _ = open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Returns false, with the reason in `errno`, if not all bytes could be written.
    static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var rest = bytes
        while let base = rest.baseAddress, !rest.isEmpty {
            let count = Foundation.write(descriptor, base, rest.count)
            if count >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if errno == EAGAIN {
                // Another process has made this terminal or pipe non-blocking.
                var events = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&events, 1, -1)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    /// Whether some bytes can be written without blocking.
    static func isWritable(_ descriptor: Int32) -> Bool {
        var events = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&events, 1, 0) == 1 && events.revents & Int16(POLLOUT) != 0
    }

    /// Whether the path names a regular file or does not exist yet.
    static func isRegularFile(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
    }

    /// Reads to the end. Returns `nil`, with the reason in `errno`, if reading fails; `EFBIG` above `limit` bytes.
    static func read(_ descriptor: Int32, limit: Int) -> Data? {
        var data = Data()
        var block = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Foundation.read(descriptor, &block, block.count)
            if count == 0 { return data }
            if count < 0 {
                if errno == EINTR { continue }
                return nil
            }
            guard data.count + count <= limit else {
                errno = EFBIG
                return nil
            }
            data.append(contentsOf: block[..<count])
        }
    }
}
