import Errand
import Foundation

/// Writes heads and results to standard output and failures to standard error, when it is the URL's turn.
struct FetchPrinter: Sendable {
    let includesHead: Bool
    let isJSON: Bool
    private let queue = BlockingQueue()

    init(includesHead: Bool, isJSON: Bool) {
        self.includesHead = includesHead
        self.isJSON = isJSON
    }

    /// Prints the part of the output before a body on standard output. Returns what went wrong.
    func begin(_ job: FetchJob, _ result: FetchResult) async -> FetchResult.Failure? {
        guard case .standardOutput = job.output else { return nil }
        return await head(result)
    }

    /// Prints the part after the body, or all output if there is no body. Returns what went wrong, here or earlier.
    func end(_ job: FetchJob, _ fetched: FetchResult, _ settings: FetchSettings) async -> FetchResult.Failure? {
        var result = fetched
        if isJSON {
            let failure = await write(result.json.text() + "\n")
            result.failure = result.failure ?? failure
        } else if !result.isHeadPrinted(job) {
            let failure = await head(result)
            result.failure = result.failure ?? failure
        }
        if let failure = result.failure {
            // If the reader closes its pipe early, this is not reported.
            if failure.exit != .brokenPipe { show(job, failure.message) }
        } else if let note = result.challengeNote(settings, job) {
            show(job, note)
        }
        return result.failure
    }

    private func show(_ job: FetchJob, _ message: String) {
        StandardError.print("errand: \(Shown.url(job.url)): \(Shown.text(message))")
    }

    private func head(_ result: FetchResult) async -> FetchResult.Failure? {
        guard includesHead, !isJSON, result.status != 0 else { return nil }
        return await write(Shown.head(result.head) + "\r\n")
    }

    private func write(_ text: String) async -> FetchResult.Failure? {
        let put = { @Sendable () -> FetchResult.Failure? in
            var text = text
            let isWritten = text.withUTF8 { Descriptor.write(UnsafeRawBufferPointer($0), to: STDOUT_FILENO) }
            return isWritten ? nil : .output("-", errno: errno)
        }
        // After an interrupt the output is still written, unless the write might block forever.
        if Task.isCancelled { return Descriptor.isWritable(STDOUT_FILENO) ? await queue.run(put) : .cancelled }
        return await queue.runAbandonably(put) ?? .cancelled
    }
}

extension FetchResult {
    /// Whether the head was printed before the body.
    fileprivate func isHeadPrinted(_ job: FetchJob) -> Bool {
        if case .standardOutput = job.output { return isReceived }
        return false
    }

    /// A note for a 401: its body alone would not explain what is missing.
    fileprivate func challengeNote(_ settings: FetchSettings, _ job: FetchJob) -> String? {
        guard status == 401 else { return nil }
        return Failure.unauthorized(headers, user: settings.credentials(for: job)?.user, wasAsked: !hasLeftOrigin)
    }
}
