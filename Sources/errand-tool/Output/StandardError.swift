import Foundation

/// Messages and progress; never mixed with what is asked for on standard output.
enum StandardError {
    static let isTerminal = isatty(STDERR_FILENO) == 1

    static func print(_ line: String) {
        write(line + "\n")
    }

    static func write(_ text: String) {
        FileHandle.standardError.write(Data(text.utf8))
    }
}
