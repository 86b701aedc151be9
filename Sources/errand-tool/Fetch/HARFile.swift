import Errand
import Foundation

/// The file of `--har`. It is opened before any request is sent, so that a missing folder is reported early.
final class HARFile {
    /// Collects the traffic. Bodies from files are read too, so that `errand batch` can resend them.
    let accessory = HARAccessory(readsFiles: true)
    private let path: String
    private var file: OutputFile

    init(_ path: String) throws(ToolError) {
        self.path = path
        do {
            // The mode is 0600, because traffic is private.
            file = try OutputFile(path, mode: 0o600)
        } catch {
            throw HARFile.failure(path, error)
        }
    }

    /// Called once, at the end.
    func write() throws(ToolError) {
        do {
            try file.write(Array(accessory.har.text().utf8))
            try file.finish()
        } catch {
            throw HARFile.failure(path, error)
        }
    }

    private static func failure(_ path: String, _ failure: OutputFile.Failure) -> ToolError {
        ToolError(.outputFile, "--har: cannot write '\(path)': \(SystemError(failure.number).text)")
    }
}
