import Foundation

/// Sends requests at a fixed rate, or all due requests at each tick, from a separate thread: a task would be late
/// whenever the measured tasks are busy.
enum OpenLoop {
    /// Valid rates in requests per second. A rate below one request in 17 minutes is no load.
    static let rates = 0.001...10_000_000

    /// The longest sleep of the thread after the end of the run or of the warm-up, in nanoseconds.
    private static let period: UInt64 = 10_000_000

    /// Returns when the load has no more tickets and the thread no longer uses the engine or the load.
    static func run(rate: Double, tick: UInt64, engine: any BenchEngine, load: BenchLoad) async {
        await withCheckedContinuation { continuation in
            let thread = Thread {
                send(rate: rate, tick: tick, engine: engine, load: load)
                continuation.resume()
            }
            thread.name = "errand-rate"
            thread.start()
        }
    }

    private static func send(rate: Double, tick: UInt64, engine: any BenchEngine, load: BenchLoad) {
        var first = load.origin
        var number = 0.0
        while true {
            let due = first + UInt64(min(number * 1e9 / rate, 1e18))
            let past = tick == 0 ? 0 : (due - first) % tick
            let departure = past == 0 ? due : due + tick - past
            while MonotonicTime.now < departure {
                guard !load.isOver else { return }
                if load.origin != first { break }
                MonotonicTime.sleep(until: min(departure, MonotonicTime.now + period))
            }
            switch load.begin(intendedAt: due, origin: first) {
            case .ticket(let ticket):
                engine.send(ticket, load)
                number += 1
            case .wait: MonotonicTime.sleep(until: MonotonicTime.now + 1_000_000)
            case .restart(let origin):
                first = origin
                number = 0
            case .over: return
            }
        }
    }
}
