import Errand
import Foundation

/// One URL of `errand download`.
struct DownloadJob: Sendable {
    /// The URL as given, with a scheme.
    let url: String
    let download: Errand.Download
}

/// Runs one `errand download`, from creating the client to the exit code.
struct DownloadSession: Sendable {
    let jobs: [DownloadJob]
    let connection: ConnectionOptions
    let isQuiet: Bool

    /// Throws the exit code of the first failed URL, after all URLs were tried.
    func run() async throws {
        let bar = DownloadBar(isShown: !isQuiet)
        var configuration = Client.Configuration(connection: connection)
        configuration.loops = 1
        configuration.userAgent = nil
        if !isQuiet { configuration.accessories = [ProgressAccessory(.download) { bar.show($0) }] }
        let client = Client(configuration: configuration)
        let task = Task { await runAll(client, bar) }
        // The first signal stops the download, and the received bytes are saved. A second signal ends the process, and
        // at most 1 MB is lost.
        let interrupt = Interrupt { task.cancel() }
        let failed = await task.value
        interrupt.end()
        await client.shutdown(.cancel)
        if let failed { throw failed.code }
    }

    private func runAll(_ client: Client, _ bar: DownloadBar) async -> ExitStatus? {
        var first: ExitStatus?
        for job in jobs {
            let started = MonotonicTime.now
            bar.begin()
            do {
                let file = try await client.run(job.download)
                bar.end()
                if !isQuiet { StandardError.print(Self.summary(file, nanoseconds: MonotonicTime.now - started)) }
            } catch is CancellationError {
                bar.end()
                StandardError.print("errand: interrupted; run the same command again to resume")
                return .interrupted
            } catch {
                bar.end()
                // `run` throws only ErrandError.
                let error = error as? ErrandError ?? .internalFailure
                first = first ?? ExitStatus(error)
                show(ToolError.text(error, of: job.url), job)
            }
        }
        return first
    }

    private func show(_ message: String, _ job: DownloadJob) {
        let prefix = jobs.count > 1 ? Shown.url(job.url) + ": " : ""
        StandardError.print("errand: \(prefix)\(Shown.text(message))")
    }

    private static func summary(_ file: DownloadedFile, nanoseconds: UInt64) -> String {
        let time = (Double(nanoseconds) / 1e9).timeText
        var text = "saved \(OutcomeTable.printable(file.path)): \(file.byteCount.grouped) bytes in \(time)"
        if file.resumedFrom > 0 { text += ", \(file.resumedFrom.grouped) of them from an earlier run" }
        if let digest = file.sha256 { text += ", sha256 \(digest)" }
        return text
    }
}
