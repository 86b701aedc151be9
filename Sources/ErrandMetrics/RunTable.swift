import Errand

/// The runs of requests that were begun before, so that a request finds its series by one comparison, or by one hash of
/// a short text if it is not like the request before.
struct RunTable: Sendable {
    /// The most runs that are kept.
    private let limit: Int
    /// The run that was found last.
    private var last: MeasuredRun?
    /// By the ``RunKey/code`` of their keys. Of two keys with the same code only the first one is kept.
    private var runs: [Int: MeasuredRun] = [:]
    private var isClosed = false

    init(limit: Int) {
        self.limit = limit
    }

    /// The number of runs that are kept.
    var count: Int { runs.count }

    mutating func find(_ description: RequestDescription, template: String?) -> MeasuredRun? {
        if let last, let key = last.key, key.matches(description, template: template) { return last }
        guard let code = RunKey.code(of: description, template: template), let found = runs[code],
            let key = found.key, key.matches(description, template: template)
        else { return nil }
        last = found
        return found
    }

    /// Keeps a run, if there is room for it.
    mutating func add(_ run: MeasuredRun) {
        guard let key = run.key, !isClosed, runs.count < limit, runs[key.code] == nil else { return }
        runs[key.code] = run
        last = run
    }

    /// Forgets all runs, and keeps no more. Returns them, to be released after the lock.
    mutating func close() -> [MeasuredRun] {
        isClosed = true
        return removeAll()
    }

    /// Forgets all runs. Returns them, to be released after the lock.
    mutating func removeAll() -> [MeasuredRun] {
        last = nil
        let kept = Array(runs.values)
        runs = [:]
        return kept
    }
}
