import Errand
import Foundation

/// The file of `--junit`. It is opened before any request is sent, so that a missing folder is reported early.
final class JUnitFile {
    private let path: String
    private var file: OutputFile

    init(_ path: String) throws(ToolError) {
        self.path = path
        do {
            file = try OutputFile(path)
        } catch {
            throw JUnitFile.failure(path, error)
        }
    }

    /// Called once, at the end.
    func write(_ text: String) throws(ToolError) {
        do {
            try write(Array(text.utf8))
            try file.finish()
        } catch {
            throw JUnitFile.failure(path, error)
        }
    }

    private func write(_ bytes: [UInt8]) throws(OutputFile.Failure) {
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(OutputFile.Failure) in try file.write(bytes) }
        }
        try result.get()
    }

    private static func failure(_ path: String, _ failure: OutputFile.Failure) -> ToolError {
        ToolError(.outputFile, "--junit: cannot write '\(path)': \(SystemError(failure.number).text)")
    }
}
