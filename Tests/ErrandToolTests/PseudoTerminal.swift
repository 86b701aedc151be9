import ErrandTesting
import Foundation

/// A terminal whose other end is a program's output: what the program writes is what a user would see.
final class PseudoTerminal {
    /// The device that the program gets.
    let path: String
    /// What was written so far.
    private(set) var bytes: [UInt8] = []
    private let main: Int32
    /// Holds the device open, so that reading does not fail before the program has opened it or once it has ended.
    private let device: Int32

    init(columns: Int) throws {
        // As posix_openpt, unlockpt and ptsname do, which Swift's Glibc does not have.
        let (unlock, askNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
        var locked: Int32 = 0
        var number: UInt32 = 0
        main = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        guard main >= 0 else { throw POSIXError(.ENODEV) }
        guard ioctl(main, unlock, &locked) == 0, ioctl(main, askNumber, &number) == 0 else {
            close(main)
            throw POSIXError(.ENODEV)
        }
        path = "/dev/pts/\(number)"
        device = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard device >= 0 else {
            close(main)
            throw POSIXError(.ENODEV)
        }
        setColumns(columns)
    }

    deinit {
        close(device)
        close(main)
    }

    /// Makes the window this wide.
    func setColumns(_ columns: Int) {
        var size = winsize(ws_row: 24, ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(main, UInt(TIOCSWINSZ), &size)
    }

    /// Takes what was written since the last time, and returns all text.
    @discardableResult
    func read() -> String {
        var block = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Foundation.read(main, &block, block.count)
            guard count > 0 else { break }
            bytes += block[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The lines that were drawn over each other, the last of which may not be complete.
    var drawn: [String] { Array(read().components(separatedBy: "\r\u{1B}[K").dropFirst()) }
}

/// A named pipe that is full: a program that writes to it waits until it is drained.
final class FullPipe {
    let path: String
    private let descriptor: Int32
    /// How many bytes of others are before the first one of the program.
    private var filling = 0

    init(_ path: String) throws {
        self.path = path
        guard mkfifo(path, 0o600) == 0 else { throw POSIXError(.EIO) }
        descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw POSIXError(.EIO) }
        let block = [UInt8](repeating: 0, count: 4096)
        while write(descriptor, block, block.count) == block.count { filling += block.count }
    }

    deinit { close(descriptor) }

    /// What the program writes until its end, and its exit code; `nil`: it did not end in five minutes, and was killed.
    func drained(untilEndOf run: ProgramRun) -> (bytes: [UInt8], status: Int32?) {
        var bytes: [UInt8] = []
        var status: Int32?
        let deadline = Date() + 300
        while status == nil, Date() < deadline {
            bytes += drained()
            status = run.wait(seconds: 0.01)
        }
        if status == nil { run.kill() }
        return (bytes + drained(), status)
    }

    /// Takes what is in the pipe, and returns what a program wrote to it.
    func drained() -> [UInt8] {
        var all: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Foundation.read(descriptor, &block, block.count)
            guard count > 0 else { return all }
            let others = min(filling, count)
            filling -= others
            all += block[others..<count]
        }
    }
}
