import Errand
import Foundation

/// A file for a report. It is opened before any request is sent, so that a missing folder is reported early. It gets
/// its name when it is complete.
final class ReportFile {
    private let option: String
    private let path: String
    private var file: OutputFile

    /// `option`: the option that names the file, for messages.
    init(_ path: String, option: String) throws(ToolError) {
        self.option = option
        self.path = path
        do {
            file = try OutputFile(path)
        } catch {
            throw ReportFile.failure(option, path, error)
        }
    }

    /// The path of the file while it has a temporary name; `nil`: the file is written in place, or is complete.
    var partial: String? { file.partial }

    /// Called once, at the end.
    func write(_ text: String) throws(ToolError) { try write(Array(text.utf8)) }

    /// Called once, at the end.
    func write(_ bytes: [UInt8]) throws(ToolError) {
        do {
            try file.write(bytes)
            try file.finish()
        } catch {
            throw ReportFile.failure(option, path, error)
        }
    }

    private static func failure(_ option: String, _ path: String, _ failure: OutputFile.Failure) -> ToolError {
        ToolError(.outputFile, "\(option): cannot write '\(path)': \(SystemError(failure.number).text)")
    }
}
