import Foundation

/// Writes the body of one response to its target as it arrives.
///
/// `@unchecked Sendable`: all mutable state is used only on `queue`, one call at a time.
final class FetchOutput: @unchecked Sendable {
    private let target: FetchJob.Output
    /// Whether a write may block forever: pipes and terminals may stop accepting bytes, but files on disk do not.
    private let mayBlock: Bool
    /// Whether written bytes cannot be withdrawn, as in a pipe or a device. A file on disk is replaced as a whole, and
    /// `/dev/null` keeps nothing.
    let isFinal: Bool
    private let queue = BlockingQueue()
    private var file: OutputFile?
    private var hasBegun = false

    init(_ target: FetchJob.Output) {
        self.target = target
        switch target {
        case .none: (mayBlock, isFinal) = (false, false)
        case .standardOutput: (mayBlock, isFinal) = (true, true)
        case .file(let path):
            mayBlock = !Descriptor.isRegularFile(path)
            isFinal = mayBlock && OutputFile.resolved(path) != "/dev/null"
        }
    }

    /// Opens the file. Returns what went wrong.
    func open() async -> FetchResult.Failure? {
        guard case .file(let path) = target else { return nil }
        return await perform { [self] in
            do throws(OutputFile.Failure) {
                file = try OutputFile(path)
                return nil
            } catch {
                return .output(path, errno: error.number)
            }
        }
    }

    /// Writes a part of the body. Returns what went wrong.
    func write(_ bytes: [UInt8]) async -> FetchResult.Failure? {
        switch target {
        case .none: return nil
        case .standardOutput(let isNamed):
            return await perform { [self] in
                defer { hasBegun = true }
                if !hasBegun, !isNamed, StandardOutput.isTerminal, bytes.prefix(2000).contains(0) { return .binary }
                return bytes.withUnsafeBytes { Descriptor.write($0, to: STDOUT_FILENO) }
                    ? nil : .output("-", errno: errno)
            }
        case .file(let path):
            return await perform { [self] in
                do throws(OutputFile.Failure) {
                    try file?.write(bytes)
                    return nil
                } catch {
                    return .output(path, errno: error.number)
                }
            }
        }
    }

    /// Called when the body is complete: gives the file its name. Returns what went wrong.
    func finish() async -> FetchResult.Failure? {
        guard case .file(let path) = target else { return nil }
        return await perform { [self] in
            do throws(OutputFile.Failure) {
                try file?.finish()
                file = nil
                return nil
            } catch {
                return .output(path, errno: error.number)
            }
        }
    }

    /// Removes a file that is not complete.
    func discard() async {
        _ = await perform { [self] in
            file = nil
            return nil
        }
    }

    private func perform(_ body: @escaping @Sendable () -> FetchResult.Failure?) async -> FetchResult.Failure? {
        guard mayBlock else { return await queue.run(body) }
        // The task was cancelled while it waited for the reader of the pipe.
        return await queue.runAbandonably(body) ?? .cancelled
    }
}
