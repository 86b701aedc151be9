import Errand
import Foundation
import Synchronization

/// Runs a plan, from creating the client to the exit code.
struct GroupRun {
    let plan: HTTPFilePlan
    let client: Client
    let progress: GroupProgress
    private let arguments: HTTPFileArguments

    init(_ plan: HTTPFilePlan, _ arguments: HTTPFileArguments) {
        self.plan = plan
        self.arguments = arguments
        var configuration = Client.Configuration()
        configuration.loops = 1
        configuration.userAgent = nil
        // Both editors keep cookies between requests, so the client does too.
        configuration.cookies = .memory
        client = Client(configuration: configuration)
        progress = GroupProgress(count: plan.requests.count, isShown: arguments.progress && !arguments.verbose)
    }

    /// Throws the exit code of the first failed request, after all outcomes were printed.
    func run(_ body: @escaping @Sendable (GroupRun) async -> [RequestOutcome]) async throws {
        guard !(arguments.json && arguments.tap) else { throw ToolError(.usage, "--json and --tap exclude each other") }
        let report = try arguments.junit.map { path throws(ToolError) in try ReportFile(path, option: "--junit") }
        let started = Date()
        let all = Task { await body(self) }
        let isInterrupted = Mutex(false)
        let interrupt = Interrupt {
            isInterrupted.withLock { $0 = true }
            all.cancel()
        }
        let drawing = Task { await progress.draw() }
        let outcomes = await all.value
        drawing.cancel()
        await drawing.value
        interrupt.end()
        await client.shutdown(.cancel)
        let wasInterrupted = isInterrupted.withLock { $0 }
        // Both reports are written, even if one of them cannot be written.
        let written = Result { try report?.write(JUnitReport.text(outcomes, started: started)) }
        try print(outcomes, isInterrupted: wasInterrupted)
        try written.get()
        if wasInterrupted { throw ToolError(.interrupted, "interrupted") }
        // A request that was stopped because another one failed does not determine the exit code.
        let failures = outcomes.compactMap(\.failure)
        if let failure = failures.first(where: { $0.exit != .interrupted }) ?? failures.first {
            throw failure.exit.code
        }
    }

    /// With `-v`, prints a request that has ended.
    func show(_ index: Int, _ command: HTTPFileCommand, _ response: @autoclosure () -> Response?, _ failure: String?) {
        guard arguments.verbose else { return }
        let planned = plan.requests[index]
        let title = plan.hasFiles ? "\(planned.file): \(planned.label)" : planned.label
        StandardError.write(ExchangeText.text(title, command, response(), failure: failure))
    }

    private func print(_ outcomes: [RequestOutcome], isInterrupted: Bool) throws(ToolError) {
        let text =
            if arguments.json {
                PrintedJSON.array(outcomes.map(\.json)).text(pretty: true) + "\n"
            } else if arguments.tap {
                TAPReport.text(outcomes, hasFiles: plan.hasFiles, isInterrupted: isInterrupted)
            } else {
                OutcomeTable.text(outcomes, hasFiles: plan.hasFiles)
            }
        try StandardOutput.write(text)
        for outcome in outcomes {
            guard let failure = outcome.failure, failure.name != FetchResult.Failure.notRun.name else { continue }
            let name = plan.hasFiles ? "\(outcome.file): \(outcome.name)" : outcome.name
            StandardError.print("errand: \(OutcomeTable.printable("\(name): \(failure.message)"))")
        }
    }
}
