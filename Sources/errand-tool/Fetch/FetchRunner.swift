import Errand
import Foundation
import HTTPTypes

/// Runs the jobs, so many at a time, and prints them in order.
struct FetchRunner {
    private let jobs: [FetchJob]
    private let settings: FetchSettings
    private let printer: FetchPrinter
    private let progress: FetchProgress
    private let client: Client
    /// `nil`: nothing is downloaded to a file.
    private let downloads: DownloadEngine?

    init(jobs: [FetchJob], settings: FetchSettings, printer: FetchPrinter, showsProgress: Bool) throws {
        self.jobs = jobs
        self.settings = settings
        self.printer = printer
        var configuration = Client.Configuration()
        configuration.loops = 1
        configuration.userAgent = nil
        configuration.connection = settings.connection
        client = Client(configuration: configuration)
        let isStreamed = jobs.contains { FetchRunner.isStreamed($0, settings) }
        // What is kept in memory has no bytes to show before its end.
        progress = FetchProgress(count: jobs.count, isShown: showsProgress && (isStreamed || jobs.count > 1))
        downloads = isStreamed ? try DownloadEngine(settings) : nil
    }

    /// A GET into a file is streamed there; the rest is small enough for memory, or refused by the limit.
    private static func isStreamed(_ job: FetchJob, _ settings: FetchSettings) -> Bool {
        if case .file = job.output { settings.method == .get && !settings.hasBody } else { false }
    }

    /// Throws the exit code of the first URL that failed, after all were printed.
    func run() async throws {
        let all = Task { await fetchAll() }
        let interrupt = Interrupt { all.cancel() }
        let drawing = Task { await progress.draw() }
        let failed = await all.value
        drawing.cancel()
        await drawing.value
        interrupt.end()
        await client.shutdown(.cancel)
        await downloads?.shutDown()
        if let failed { throw failed.code }
    }

    private func fetchAll() async -> ExitStatus? {
        await withTaskGroup(of: (Int, FetchResult).self) { group in
            var results: [Int: FetchResult] = [:]
            var started = 0
            var printed = 0
            var failed: ExitStatus?
            while printed < jobs.count {
                while started < jobs.count, started - printed < settings.parallel {
                    let number = started
                    group.addTask { (number, await fetch(jobs[number])) }
                    started += 1
                }
                guard let (number, result) = await group.next() else { break }
                results[number] = result
                while let result = results.removeValue(forKey: printed) {
                    let printedResult = printer.print(jobs[printed], result)
                    failed = failed ?? printedResult.failure?.exit
                    printed += 1
                }
            }
            return failed
        }
    }

    private func fetch(_ job: FetchJob) async -> FetchResult {
        guard let downloads, case .file(let path) = job.output, FetchRunner.isStreamed(job, settings) else {
            let result = await BufferedFetch.run(job.url, settings, client: client)
            progress.ended()
            return result
        }
        do {
            // The client's own rules for URLs hold for downloads too.
            let description = try client.describe(settings.command(job.url))
            return await Download(job, description, path: path, settings, engine: downloads, progress: progress).run()
        } catch {
            var result = FetchResult(url: job.url)
            result.failure = FetchResult.Failure(error)
            progress.ended()
            return result
        }
    }
}
