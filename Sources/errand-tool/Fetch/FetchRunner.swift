import Errand
import Foundation

/// Runs the jobs, with a limit of how many run at a time.
struct FetchRunner {
    private let jobs: [FetchJob]
    private let settings: FetchSettings
    private let printer: FetchPrinter
    private let progress: FetchProgress
    private let client: Client

    init(jobs: [FetchJob], settings: FetchSettings, printer: FetchPrinter, showsProgress: Bool) throws {
        self.jobs = jobs
        self.settings = settings
        self.printer = printer
        var configuration = Client.Configuration()
        configuration.loops = 1
        configuration.userAgent = nil
        configuration.connection = settings.connection
        if settings.cookies != nil { configuration.cookies = .memory }
        if settings.isVerbose { configuration.accessories = [FetchVerbose()] }
        client = Client(configuration: configuration)
        // A body printed on the terminal shows its own progress.
        let isOnTerminal = StandardOutput.isTerminal && jobs.contains { $0.output.isStandardOutput }
        let isWorthIt = jobs.count > 1 || jobs.contains { !$0.output.isStandardOutput }
        progress = FetchProgress(count: jobs.count, isShown: showsProgress && isWorthIt && !isOnTerminal)
    }

    /// Throws the exit code of the first failed URL, after all results were printed.
    func run() async throws {
        if let jar = client.cookies { try settings.cookies?.load(into: jar, for: jobs.map(\.address)) }
        let all = Task { await fetchAll() }
        let interrupt = Interrupt { all.cancel() }
        let drawing = Task { await progress.draw() }
        let failed = await all.value
        drawing.cancel()
        await drawing.value
        interrupt.end()
        let cookies = Result { () throws in
            if let jar = client.cookies { try settings.cookies?.save(jar, for: jobs.map(\.address)) }
        }
        await client.shutdown(.cancel)
        if let failed { throw failed.code }
        try cookies.get()
    }

    private func fetchAll() async -> ExitStatus? {
        let turn = FetchTurn()
        return await withTaskGroup(of: (Int, ExitStatus?).self) { group in
            var failures: [Int: ExitStatus] = [:]
            for number in jobs.indices {
                if number >= settings.parallel, let (ended, failure) = await group.next() { failures[ended] = failure }
                let run = FetchRun(
                    job: jobs[number], number: number, settings: settings, client: client, turn: turn,
                    progress: progress, printer: printer)
                group.addTask { (number, await run.run()) }
            }
            for await (ended, failure) in group { failures[ended] = failure }
            return failures.min { $0.key < $1.key }?.value
        }
    }
}
