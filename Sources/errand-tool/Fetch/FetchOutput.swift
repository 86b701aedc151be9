import Foundation

/// Where the body of one response goes, as it comes.
///
/// `@unchecked Sendable`: everything mutable is touched on `queue` alone, one call after the other.
final class FetchOutput: @unchecked Sendable {
    private let target: FetchJob.Output
    /// Pipes and terminals may never take another byte; a disk does.
    private let mayBlock: Bool
    private let queue = BlockingQueue()
    private var file: OutputFile?
    private var hasBegun = false

    init(_ target: FetchJob.Output) {
        self.target = target
        mayBlock =
            switch target {
            case .none: false
            case .standardOutput: true
            case .file(let path): !Descriptor.isRegularFile(path)
            }
    }

    /// Begins: opens the file. Answers what went wrong.
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

    /// Answers what went wrong.
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

    /// The body is whole: gives the file its name.
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

    /// Leaves nothing of a file that is not whole.
    func discard() async {
        _ = await perform { [self] in
            file = nil
            return nil
        }
    }

    private func perform(_ body: @escaping @Sendable () -> FetchResult.Failure?) async -> FetchResult.Failure? {
        guard mayBlock else { return await queue.run(body) }
        // Cancelled while it waits for whoever reads the pipe.
        return await queue.runAbandonably(body) ?? .cancelled
    }
}
