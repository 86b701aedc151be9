import Foundation

/// Reads and writes whole; FileHandle traps where the system refuses.
enum Descriptor {
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
