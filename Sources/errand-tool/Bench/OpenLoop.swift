import Foundation

/// Sends at a fixed rate, from a thread of its own: a task would be late whenever the tasks it measures are busy.
enum OpenLoop {
    static func start(rate: Double, engine: any BenchEngine, load: BenchLoad) {
        let thread = Thread {
            let first = MonotonicTime.now
            var number = 0.0
            while true {
                let due = first + UInt64(number * 1e9 / rate)
                MonotonicTime.sleep(until: due)
                guard let ticket = load.begin(intendedAt: due) else { break }
                engine.send(ticket, load)
                number += 1
            }
            // With a number of requests there is nothing left to stop; with a duration the load stopped itself.
        }
        thread.name = "errand-rate"
        thread.start()
    }
}
