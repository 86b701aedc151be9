import Errand
import Foundation
import Synchronization

/// Sends requests at a fixed rate, whether or not earlier ones were answered (an open loop), and records how each
/// ended.
final class Load: Sendable {
    struct Sample: Sendable {
        /// Seconds since the start of the script, when the request was due.
        let due: Double
        /// Seconds from `due` to the end of the request.
        let took: Double
        let succeeded: Bool
    }

    let contender: Contender
    private let server: SickServer
    private let client: Client
    private let start: Double
    private let samples = Mutex<[Sample]>([])
    /// Whether a request got no descriptor, and therefore was not sent.
    private let isOutOfDescriptors = Atomic(false)

    init(_ contender: Contender, _ script: SickScript, start: Double) throws {
        self.contender = contender
        self.start = start
        server = try SickServer(script, start: start, seed: 7)
        client = contender.client(port: server.port)
    }

    /// Sends the request that is due at that time.
    func send(due: Double) {
        client.start(Ask()) { [self] request in
            let took = SickTime.now - start - due
            if request.error == .outOfDescriptors { isOutOfDescriptors.store(true, ordering: .relaxed) }
            samples.withLock { $0.append(Sample(due: due, took: took, succeeded: request.error == nil)) }
        }
    }

    /// Waits for the requests in flight, and then ends the client and the server.
    func finish() async -> Outcome {
        // Each request ends within its time limit.
        await client.shutdown(.drain(within: .seconds(300)))
        let counts = client.resilience?.counts
        let server = server
        let seen: SickServer.Seen = await withCheckedContinuation { continuation in
            // Waiting for a thread blocks, and a task's thread must not block.
            Thread.detachNewThread { continuation.resume(returning: server.stop()) }
        }
        let lack = SickError("\(contender.name): a request could not be sent: too many open files; see ulimit -n")
        return Outcome(
            contender: contender, samples: samples.withLock { $0 }, arrivals: seen.arrivals, counts: counts,
            failure: seen.failure ?? (isOutOfDescriptors.load(ordering: .relaxed) ? lack : nil))
    }

    /// Sends all loads at that rate until the end of the script. Returns the number of requests of each load.
    static func run(_ loads: [Load], rate: Double, _ script: SickScript, start: Double) async -> Int {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let count = Int(script.seconds * rate)
                for number in 0..<count {
                    let due = Double(number) / rate
                    SickTime.sleep(until: start + due)
                    for load in loads { load.send(due: due) }
                }
                continuation.resume(returning: count)
            }
        }
    }
}
