import Foundation

/// What was asked for.
enum StandardOutput {
    static func write(_ text: String) throws(ToolError) {
        var text = text
        let isWritten = text.withUTF8 { Descriptor.write(UnsafeRawBufferPointer($0), to: STDOUT_FILENO) }
        guard isWritten else {
            throw ToolError(.outputFile, "cannot write '-': \(String(cString: strerror(errno)))")
        }
    }
}
