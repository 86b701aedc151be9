import Foundation

/// The requested data.
enum StandardOutput {
    static let isTerminal = isatty(STDOUT_FILENO) == 1

    static func write(_ text: String) throws(ToolError) {
        var text = text
        let isWritten = text.withUTF8 { Descriptor.write(UnsafeRawBufferPointer($0), to: STDOUT_FILENO) }
        guard isWritten else { throw ToolError(FetchResult.Failure.output("-", errno: errno)) }
    }
}

/// Messages and progress. They are never written to standard output, which contains only the requested data.
enum StandardError {
    /// Whether a line of progress can be redrawn: standard error is a terminal that knows control codes, unlike
    /// `TERM=dumb`.
    static let isTerminal = isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"

    static func print(_ line: String) {
        write(line + "\n")
    }

    /// A message that cannot be written is dropped: there is no other place to report the failure, and the work
    /// continues.
    static func write(_ text: String) {
        var text = text
        _ = text.withUTF8 { Descriptor.write(UnsafeRawBufferPointer($0), to: STDERR_FILENO) }
    }
}
