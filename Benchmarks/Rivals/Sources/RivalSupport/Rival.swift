import Foundation

/// A client under load.
package protocol Rival: Sendable {
    /// The name in the report.
    var mode: String { get }
    /// The number of its event loops.
    var loops: Int { get }
    /// Sends that request and, when it has ended, the requests that `Load.end` returns.
    func send(_ ticket: Load.Ticket, _ load: Load)
    func shutDown() throws
}

extension Rival {
    /// Runs the load and prints the results. Blocks the calling thread, and sends the first requests from it.
    package func measure(_ plan: RivalPlan) throws {
        let load = Load(
            width: plan.connections, warmUp: plan.warmUp, requests: plan.requests, rate: plan.rate, tick: plan.tick)
        let (result, from, to) = load.run { send($0, load) }
        try shutDown()
        if let error = result.firstError {
            FileHandle.standardError.write(Data("rival: first error: \(error)\n".utf8))
        }
        let report = Report(
            result, from: from, to: to, mode: mode, connections: plan.connections, loops: loops)
        FileHandle.standardOutput.write(try report.json())
    }
}
