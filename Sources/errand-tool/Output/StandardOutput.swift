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
