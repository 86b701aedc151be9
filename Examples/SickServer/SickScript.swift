/// The health of the server over time.
struct SickScript: Sendable {
    enum Health: Sendable, Hashable {
        case healthy
        /// This share of the requests never gets an answer.
        case stalling(Double)
        /// This share of the requests is answered with 503.
        case failing(Double)
        /// Every connection is reset, and everything that was queued is lost.
        case dead
    }

    struct Phase: Sendable {
        let name: String
        let health: Health
        /// Seconds since the start of the script.
        let begin: Double
        let end: Double
    }

    let phases: [Phase]
    var seconds: Double { phases.last?.end ?? 0 }

    /// Healthy, stalls, death, errors, recovery, in that many seconds. Errors come last, because retries without a
    /// budget send more than the server can answer: its queue does not drain when the server is healthy again.
    init(seconds: Double) {
        let parts: [(String, Health, Double)] = [
            ("healthy", .healthy, 8), ("2 % stall", .stalling(0.02), 10), ("20 % stall", .stalling(0.2), 10),
            ("dead", .dead, 8), ("50 % errors", .failing(0.5), 10), ("healthy again", .healthy, 14),
        ]
        let unit = seconds / parts.reduce(0) { $0 + $1.2 }
        var begin = 0.0
        phases = parts.map { name, health, length in
            defer { begin += length * unit }
            return Phase(name: name, health: health, begin: begin, end: begin + length * unit)
        }
    }

    /// The server is healthy before and after the script.
    func health(at seconds: Double) -> Health {
        phases.first { $0.begin <= seconds && seconds < $0.end }?.health ?? .healthy
    }
}
