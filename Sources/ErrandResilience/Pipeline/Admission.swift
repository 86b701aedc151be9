import Glibc
import HTTPTypes

/// The permits of one attempt, and what they learn from its end.
struct Admission: Sendable {
    var breaker: BreakerPermit?
    var concurrency: ConcurrencyPermit?
    /// The limit that learns what the server says.
    var rate: RateLimit?
    let key: String
    private var headStatus: Int?

    init(key: String) {
        self.key = key
    }

    /// The head of a streamed response arrived. The breaker's vote is complete: how long the caller reads the body says
    /// nothing about the server.
    mutating func headArrived(_ head: Response) {
        headStatus = head.statusCode
        breaker?.release(BreakerOutcome(status: head.statusCode))
        learn(head)
    }

    /// The attempt has ended. `now`: a reading of the parts' clock.
    func ended(_ result: TransferResult, now: Duration) {
        switch result {
        case .response(let response):
            let status = response.statusCode
            breaker?.release(BreakerOutcome(status: status), now: now)
            if headStatus == nil { learn(response) }
            if Self.isOverload(status) {
                concurrency?.recordOverload()
            } else if headStatus == nil {
                concurrency?.record()
            } else {
                // The time includes that of the reader, so it is no sample.
                concurrency?.drop()
            }
        case .failure(let error):
            breaker?.release(BreakerOutcome(error: error), now: now)
            if headStatus.map(Self.isOverload) ?? (error.isTimeout && error != .timeoutQueue) {
                concurrency?.recordOverload()
            } else {
                concurrency?.drop()
            }
        }
    }

    /// The attempt was not sent.
    func drop() {
        breaker?.release(.ignored)
        concurrency?.drop()
    }

    private static func isOverload(_ status: Int) -> Bool { status == 429 || status == 503 }

    private func learn(_ response: Response) {
        guard let rate else { return }
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        rate.serverAnswered(
            key, ServerRateLimit(response.headers, status: response.statusCode, date: Int64(time.tv_sec)))
    }
}
