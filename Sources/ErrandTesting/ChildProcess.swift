internal import CErrandFaultServer
import Foundation

/// A child process whose standard input and output are one socket. This process holds the other end, so the child
/// notices when this process ends, however it ends. With Foundation's Process, other children would inherit the pipes
/// and keep them open.
package final class ChildProcess: @unchecked Sendable {
    // `state` is read and written only under `lock`, `pending` only under `reading`. `reading` is also held during a
    // read and while the socket is closed, so no read meets a descriptor that another file has got.
    private enum State {
        case running(pid: pid_t, socket: Int32)
        case stopped
    }
    private var state: State
    private var pending: [UInt8] = []
    private let lock = NSLock()
    private let reading = NSLock()

    package init(_ path: String) throws {
        var sockets: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &sockets) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, sockets[1], 0)
        posix_spawn_file_actions_adddup2(&actions, sockets[1], 1)
        // Without this, a pipe that Foundation is creating at this moment would stay open until this child ends, and
        // its reader would wait that long.
        _ = errand_fault_spawn_close_from(&actions, 3)
        var pid: pid_t = 0
        let arguments = [strdup(path), nil]
        let code = posix_spawn(&pid, path, &actions, nil, arguments, environ)
        free(arguments[0])
        posix_spawn_file_actions_destroy(&actions)
        close(sockets[1])
        guard code == 0 else {
            close(sockets[0])
            throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
        }
        state = .running(pid: pid, socket: sockets[0])
    }

    deinit {
        stop()
    }

    /// The next line of the child's output without the line feed; nil at the end. Blocks; ``stop()`` ends the wait.
    package func readLine() -> String? {
        reading.lock()
        defer { reading.unlock() }
        while case .running(_, let socket) = lock.withLock({ state }) {
            if let end = pending.firstIndex(of: 10) {
                let line = String(decoding: pending[..<end], as: UTF8.self)
                pending.removeSubrange(...end)
                return line
            }
            var block = [UInt8](repeating: 0, count: 4096)
            let count = read(socket, &block, block.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            pending += block[..<count]
        }
        return nil
    }

    /// Closes the socket, which tells the child to end, and waits until the child has ended.
    package func stop() {
        let before = lock.withLock {
            defer { state = .stopped }
            return state
        }
        guard case .running(let pid, let socket) = before else { return }
        // Wakes a reader.
        shutdown(socket, Int32(SHUT_RDWR))
        reading.withLock { _ = close(socket) }
        while waitpid(pid, nil, 0) < 0, errno == EINTR {}
    }
}
