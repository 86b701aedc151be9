import Errand
import Foundation

/// Writes results to standard output in the order of their URLs, failures to standard error.
struct FetchPrinter: Sendable {
    let includesHead: Bool
    let isJSON: Bool

    /// Returns: the result with what went wrong in saving or printing it.
    func print(_ job: FetchJob, _ fetched: FetchResult) -> FetchResult {
        var result = fetched
        if result.failure == nil { save(job, &result) }
        if isJSON {
            write(Array((result.json.text() + "\n").utf8), &result)
        } else {
            if includesHead, result.status != 0 { write(result.head + [0x0D, 0x0A], &result) }
            if result.failure == nil, job.output == .standardOutput, case .memory(let body) = result.body {
                body.withBytes { bytes in
                    if !Descriptor.write(bytes, to: STDOUT_FILENO) {
                        result.failure = .output("-", String(cString: strerror(errno)))
                    }
                }
            }
        }
        if let failure = result.failure { StandardError.print("errand: \(job.url): \(failure.message)") }
        return result
    }

    /// A body in memory that belongs in a file; a downloaded one is there already.
    private func save(_ job: FetchJob, _ result: inout FetchResult) {
        guard case .file(let path) = job.output, case .memory(let body) = result.body else { return }
        do {
            var file = try OutputFile(path)
            try body.withBytes { bytes throws(OutputFile.Failure) in try file.write(bytes) }
            try file.finish()
            result.body = .file(path: path, bytes: file.written)
        } catch {
            result.failure = .output(path, error.reason)
        }
    }

    private func write(_ bytes: [UInt8], _ result: inout FetchResult) {
        let written = bytes.withUnsafeBytes { Descriptor.write($0, to: STDOUT_FILENO) }
        if !written, result.failure == nil {
            result.failure = .output("-", String(cString: strerror(errno)))
        }
    }
}
