import Foundation

/// Messages and progress; never mixed with what is asked for on standard output.
enum StandardError {
    static let isTerminal = isatty(STDERR_FILENO) == 1

    static func print(_ line: String) {
        write(line + "\n")
    }

    /// A message that cannot be written is lost: there is no other place to say so, and the work goes on.
    static func write(_ text: String) {
        var text = text
        _ = text.withUTF8 { Descriptor.write(UnsafeRawBufferPointer($0), to: STDERR_FILENO) }
    }
}
