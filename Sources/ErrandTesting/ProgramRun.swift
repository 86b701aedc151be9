internal import CErrandFaultServer
import Foundation
import Glibc

/// A program that runs with its input and output redirected to files, for the package's own tests.
///
/// Foundation's Process is not used: up to Swift 6.3 it reads beyond the entries of /proc/self/fd when it searches for
/// the highest descriptor, and crashes the process if the entries end at the end of a page.
package struct ProgramRun: Sendable {
    private let pid: pid_t
    private let path: String

    /// Starts the program.
    ///
    /// - Parameter environment: `nil`: the environment of this process.
    /// - Parameter output: An existing file or device.
    /// - Parameter errors: An existing file or device; `nil`: the same as `output`.
    package init(
        _ path: String, _ arguments: [String], environment: [String: String]? = nil, input: String = "/dev/null",
        output: String = "/dev/null", errors: String? = nil
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY, 0)
        if let errors {
            posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY, 0)
        } else {
            posix_spawn_file_actions_adddup2(&actions, 1, 2)
        }
        _ = errand_fault_spawn_close_from(&actions, 3)

        // The threads of a pool block signals, and the child would inherit their signal mask.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] =
            (environment ?? ProcessInfo.processInfo.environment).map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var started: pid_t = 0
        let code = posix_spawn(&started, path, &actions, &attributes, &words, &variables)
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
        pid = started
        self.path = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    }

    /// Blocks the thread until the program ends, and returns the exit code, or 128 plus the number of the signal that
    /// ended the program; `nil` if it does not end in time. Must not be called again after the program has ended.
    package func wait(seconds: Double = 60) -> Int32? {
        let end = Date().addingTimeInterval(seconds)
        while true {
            var status: Int32 = 0
            let ended = waitpid(pid, &status, WNOHANG)
            if ended == pid { return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F) }
            if ended < 0, errno != EINTR { return nil }
            if Date() > end { return nil }
            usleep(2000)
        }
    }

    /// The resident memory of the program, in KiB, without mapped files (`RssAnon`); `nil` before the program has begun
    /// and once it has ended. Pages of mapped files are not counted, because the number of resident pages of a library
    /// depends on the system's page cache.
    package var residentMemory: Int? {
        // execve wakes vfork's parent before it replaces the memory: until then /proc shows the parent's memory.
        guard (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/exe")) == path else {
            return nil
        }
        return status("RssAnon").flatMap { Int($0.filter(\.isNumber)) }
    }

    /// Whether the program has a handler for that signal (`SigCgt`); `false` once it has ended.
    package func catches(_ signal: Int32) -> Bool {
        let mask = status("SigCgt").flatMap { UInt64($0.filter(\.isHexDigit), radix: 16) } ?? 0
        return mask & (1 << UInt64(signal - 1)) != 0
    }

    /// The value of that field in `/proc/PID/status`.
    private func status(_ name: String) -> Substring? {
        let status = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        return status?.split(separator: "\n").first { $0.hasPrefix("\(name):") }?.dropFirst(name.count + 1)
    }

    /// Sends a signal to the program.
    package func signal(_ number: Int32) {
        _ = Glibc.kill(pid, number)
    }

    /// Ends the program at once with SIGKILL.
    package func kill() {
        signal(SIGKILL)
        _ = wait()
    }
}
