import Errand
import Synchronization

/// The series of servers, found by their labels. The servers that were called first have series of their own. Statuses,
/// errors and versions do not count for the limit, so a server's first error has a series even if there is no room for
/// another server. If there is no room, servers that were not called for a while lose their series. Any thread.
final class ServerTable: Sendable {
    private struct State: Sendable {
        var admitted: [ServerLabels: ServerSeries] = [:]
        /// The series of all servers that are not admitted. They are few, because there are few methods and schemes.
        var others: [ServerLabels: ServerSeries] = [:]
        /// When room was looked for last.
        var search = Int64.min
    }

    /// How long a server that was not called keeps its series if others need one, in nanoseconds.
    static let idleTime: Int64 = 15 * 60 * 1_000_000_000
    /// The time between two searches for such servers.
    private static let pause: Int64 = 60 * 1_000_000_000

    private let limit: Int
    private let instruments: AttemptInstruments
    private let state = Mutex(State())

    init(limit: Int, _ instruments: AttemptInstruments) {
        self.limit = limit
        self.instruments = instruments
    }

    /// The series of the server, or that of all servers that are not admitted.
    func series(_ server: ServerLabels) -> ServerSeries {
        state.withLock { state in
            if let found = state.admitted[server] { return found }
            guard state.admitted.count >= limit else {
                let made = ServerSeries(server, instruments, isOverflow: false)
                state.admitted[server] = made
                return made
            }
            let other = server.overflow
            if let found = state.others[other] { return found }
            let made = ServerSeries(other, instruments, isOverflow: true)
            state.others[other] = made
            return made
        }
    }

    /// Gives up the series of servers that were not called for a while, if there is no room. Does nothing if it was
    /// called within the last minute. `time`: the present time, in nanoseconds of `Stopwatch.bootTime()`. Returns
    /// whether there is room now that was not there before.
    func makeRoom(at time: Int64) -> Bool {
        let idle = state.withLock { state -> [ServerLabels: ServerSeries] in
            // `search` may be the smallest number, and a request may end before another one that has looked for room.
            guard state.admitted.count >= limit, state.search == .min || time >= state.search + Self.pause else {
                return [:]
            }
            state.search = time
            return state.admitted.filter { time - $0.value.lastUse >= Self.idleTime }
        }
        // A series that a request uses at this moment stays.
        let retired = idle.filter { $0.value.retire() }
        guard !retired.isEmpty else { return false }
        state.withLock { state in
            for (server, series) in retired where state.admitted[server] === series { state.admitted[server] = nil }
        }
        return true
    }
}
