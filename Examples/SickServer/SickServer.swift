import Errand
import Foundation
import Synchronization

/// An HTTP/1.1 server on loopback whose health follows a script.
///
/// Its capacity is limited, as that of a service: ``slots`` requests are worked on at a time, each for ``workTime``,
/// and ``queueLimit`` requests wait. Any further request is answered with 503. The server does not notice that a client
/// has given up, so an abandoned request costs as much as any other.
final class SickServer: Sendable {
    static let slots = 6
    static let workTime = 0.010...0.030
    static let queueLimit = 300
    /// The number of requests per second that the server can answer.
    static let capacity = Double(slots) * 2 / (workTime.lowerBound + workTime.upperBound)

    /// The observations of the server.
    struct Seen: Sendable {
        /// The times when the requests arrived, in seconds since the start of the script. While the server is dead,
        /// each connection counts as a request.
        var arrivals: [Double] = []
        /// The reason why a connection could not be accepted. No connection is accepted after that.
        var failure: SickError?
    }

    let port: Int
    private let listener: Int32
    private let isStopped = Atomic(false)
    private let ended = DispatchSemaphore(value: 0)
    private let seen = Mutex(Seen())

    /// Starts the server. The script begins at `start`, a reading of ``SickTime``.
    init(_ script: SickScript, start: Double, seed: UInt64) throws {
        (listener, port) = try Self.listen()
        Thread.detachNewThread { [self] in
            var loop = SickServerLoop(listener: listener, script: script, start: start, seed: seed)
            while !isStopped.load(ordering: .relaxed) {
                let arrived = loop.turn()
                if !arrived.isEmpty { seen.withLock { $0.arrivals += arrived } }
            }
            if let failure = loop.failure { seen.withLock { $0.failure = failure } }
            loop.end()
            ended.signal()
        }
    }

    /// Ends the server's thread.
    func stop() -> Seen {
        if !isStopped.exchange(true, ordering: .relaxed) { ended.wait() }
        return seen.withLock { $0 }
    }

    private static func listen() throws -> (Int32, Int) {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_INET, type, 0)
        guard descriptor >= 0 else { throw SickError.system("socket") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && Foundation.listen(descriptor, 1024) == 0
                    && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isListening else {
            let error = SickError.system("listen")
            close(descriptor)
            throw error
        }
        return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    }
}

/// Seconds of the monotonic clock.
enum SickTime {
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Blocks the thread until that time.
    static func sleep(until seconds: Double) {
        var time = timespec(tv_sec: Int(seconds), tv_nsec: Int((seconds - seconds.rounded(.down)) * 1e9))
        while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
    }
}

struct SickError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }

    static func system(_ call: String) -> SickError {
        SickError("\(call): \(String(cString: strerror(errno)))")
    }
}

/// Random numbers that are the same in each run (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
