import Errand
import Foundation

/// Runs the jobs. The number of jobs that run at the same time is limited.
struct FetchRunner {
    private let jobs: [FetchJob]
    private let settings: FetchSettings
    private let printer: FetchPrinter
    private let progress: FetchProgress
    private let clients: FetchClients
    private let verbose: FetchVerbose?

    /// `traffic`: records all exchanges; `nil`: they are not recorded.
    init(
        jobs: [FetchJob], settings: FetchSettings, printer: FetchPrinter, showsProgress: Bool,
        traffic: HARAccessory? = nil
    ) throws {
        self.jobs = jobs
        self.settings = settings
        self.printer = printer
        var configuration = Client.Configuration()
        configuration.loops = 1
        configuration.userAgent = nil
        configuration.connection = settings.connection
        if settings.cookies != nil { configuration.cookies = .memory }
        verbose = settings.isVerbose ? FetchVerbose() : nil
        if let verbose { configuration.accessories = [verbose] }
        if let traffic { configuration.accessories.append(traffic) }
        clients = FetchClients(configuration)
        // A body that is printed on the terminal shows the progress itself.
        let isOnTerminal = StandardOutput.isTerminal && jobs.contains { $0.output.isStandardOutput }
        let isWorthIt = jobs.count > 1 || jobs.contains { !$0.output.isStandardOutput }
        progress = FetchProgress(count: jobs.count, isShown: showsProgress && isWorthIt && !isOnTerminal)
    }

    /// Throws the exit code of the first failed URL, after all results were printed.
    func run() async throws {
        let client = clients.plain
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
        await verbose?.drained()
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
                    job: jobs[number], number: number, settings: settings, clients: clients, turn: turn,
                    progress: progress, printer: printer)
                group.addTask { (number, await run.run()) }
            }
            for await (ended, failure) in group { failures[ended] = failure }
            return failures.min { $0.key < $1.key }?.value
        }
    }
}
