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

/// Messages and progress. They are never written to standard output, which has only the requested data.
enum StandardError {
    static let isTerminal = isatty(STDERR_FILENO) == 1

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
