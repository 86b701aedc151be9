import Errand

/// The observations of one client and its server.
struct Outcome: Sendable {
    /// The figures of the requests that were due in one period.
    struct Figures: Sendable {
        let requests: Int
        /// 0...1; `nil`: there were no requests.
        let success: Double?
        /// In seconds, with failed requests included; `nil`: there were no requests.
        let p99: Double?
        /// Requests per second that arrived at the server.
        let load: Double
    }

    let contender: Contender
    let samples: [Load.Sample]
    /// The times when requests arrived at the server.
    let arrivals: [Double]
    let counts: ResilienceParts.Counts?
    /// The reason why the figures are meaningless; `nil`: they are valid.
    let failure: SickError?

    func figures(from begin: Double, to end: Double) -> Figures {
        let within = samples.filter { begin <= $0.due && $0.due < end }
        let times = within.map(\.took).sorted()
        let index = max(0, Int((Double(times.count) * 0.99).rounded(.up)) - 1)
        let succeeded = within.count { $0.succeeded }
        return Figures(
            requests: within.count,
            success: within.isEmpty ? nil : Double(succeeded) / Double(within.count),
            p99: times.isEmpty ? nil : times[index],
            load: Double(arrivals.count { begin <= $0 && $0 < end }) / (end - begin))
    }

    /// The figures of the script, divided into periods of that many seconds.
    func series(_ script: SickScript, step: Double) -> [(time: Double, figures: Figures)] {
        (0..<Int((script.seconds / step).rounded())).map { piece in
            let begin = Double(piece) * step
            return (begin + step / 2, figures(from: begin, to: begin + step))
        }
    }
}
