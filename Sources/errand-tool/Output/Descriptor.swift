import Foundation

/// Reads and writes whole; FileHandle traps where the system refuses.
enum Descriptor {
    /// Takes those of 0, 1 and 2 that the tool was started without (`>&-`). Else the engine would get that number for a
    /// descriptor of its own, and output would go into it. They are open the wrong way round, so that what is read or
    /// written there is refused, as it would be without them.
    static func holdStandard() {
        for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(number, F_GETFD) < 0 {
            // The lowest number that is free is this one.
            _ = open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Returns: false, with the reason in `errno`, where not all could be written.
    static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var rest = bytes
        while let base = rest.baseAddress, !rest.isEmpty {
            let count = Foundation.write(descriptor, base, rest.count)
            if count >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if errno == EAGAIN {
                // A terminal or pipe that some other process made non-blocking.
                var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&wanted, 1, -1)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    /// Whether some bytes can be written without waiting.
    static func isWritable(_ descriptor: Int32) -> Bool {
        var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&wanted, 1, 0) == 1 && wanted.revents & Int16(POLLOUT) != 0
    }

    /// Whether there is a regular file of that name, or nothing yet.
    static func isRegularFile(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
    }

    /// Everything up to its end. Returns: `nil`, with the reason in `errno`, where it cannot be read; `EFBIG` above
    /// `limit` bytes.
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
