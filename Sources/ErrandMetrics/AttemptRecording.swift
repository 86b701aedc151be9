import Errand
import Synchronization

/// Records what attempts and runs report. Finds the series of each request. After the first request of its kind, no
/// text is made for this. Any thread.
final class AttemptRecording: Sendable {
    let instruments: AttemptInstruments
    private let servers: ServerTable
    /// Its runs refer to this object: see ``close()``.
    private let table: Mutex<RunTable>

    init(_ maker: MetricMaker, limit: Int) {
        let instruments = AttemptInstruments(maker, limit: limit)
        self.instruments = instruments
        servers = ServerTable(limit: limit, instruments)
        // Some label sets have several keys, such as a host in upper and in lower case. Beyond the limit each request
        // makes its labels anew, so a client of arbitrary hosts cannot fill the memory.
        let (twice, overflows) = limit.multipliedReportingOverflow(by: 2)
        table = Mutex(RunTable(limit: overflows ? .max : twice))
    }

    /// The number of kinds of requests that are kept.
    var keptCount: Int { table.withLock { $0.count } }

    /// Ends the references between this object and the runs that it keeps.
    func close() {
        let kept = table.withLock { $0.close() }
        withExtendedLifetime(kept) {}
    }

    /// A run begins. The template belongs to the URL of the run.
    func run(_ description: RequestDescription, _ start: RunStart) -> MeasuredRun {
        let template = instruments.options.includesURLTemplate ? start.urlTemplate : nil
        guard start.isGroup else { return run(description, template: template) }
        return MeasuredRun(nil, self, nil, method: description.method.rawValue, template: template)
    }

    /// The series of an attempt; `template`: the template, if it applies to the URL.
    func series(of description: RequestDescription, template: String?) -> ServerSeries {
        run(description, template: template).server ?? made(description, template: template)
    }

    private func run(_ description: RequestDescription, template: String?) -> MeasuredRun {
        if let found = table.withLock({ $0.find(description, template: template) }) { return found }
        let run = MeasuredRun(
            RunKey(description, template: template), self, made(description, template: template),
            method: description.method.rawValue, template: template)
        table.withLock { $0.add(run) }
        return run
    }

    /// The series of a server, or that for servers beyond ``ClientMetrics/Options/labelSetLimit``.
    private func made(_ description: RequestDescription, template: String?) -> ServerSeries {
        let labels = ServerLabels(description, template: template, instruments.options)
        let found = servers.series(labels)
        guard found.isOverflow, makeRoom(at: Stopwatch.bootTime()) else { return found }
        return servers.series(labels)
    }

    /// Gives up the series of servers that were not called for a while, if there is no room for others. The names of a
    /// service's instances may change all the time. Returns whether there is room now. `time`: as in
    /// ``ServerTable/makeRoom(at:)``.
    @discardableResult
    func makeRoom(at time: Int64) -> Bool {
        guard servers.makeRoom(at: time) else { return false }
        // Runs to servers that had no room before, or that have lost their series, find other series.
        let former = table.withLock { $0.removeAll() }
        withExtendedLifetime(former) {}
        return true
    }
}
