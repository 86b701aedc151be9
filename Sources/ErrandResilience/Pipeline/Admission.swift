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

    /// The attempt has to wait before it is sent, and keeps its permits.
    func hold() {
        breaker?.hold()
        concurrency?.hold()
    }

    /// The attempt is sent now, after a wait: its permits begin to measure. Throws if the breaker's state has changed
    /// and does not let the attempt pass. `now`: a reading of the parts' clock.
    mutating func begin(now: Duration) throws(BreakerRefusal) {
        if let held = breaker { breaker = try held.begin(now: now) }
        concurrency?.begin(now: now)
    }

    /// The head of a streamed response arrived. The breaker's vote is complete: how long the caller reads the body says
    /// nothing about the server.
    mutating func headArrived(_ head: Response) {
        headStatus = head.statusCode
        breaker?.release(BreakerOutcome(status: head.statusCode))
        learn(head)
    }

    /// The attempt has ended. `isCutShort`: its total time was only the time that its caller had left. `now`: a reading
    /// of the parts' clock.
    func ended(_ result: TransferResult, isCutShort: Bool, now: Duration) {
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
                // The time includes the caller's reading of the body, so it is no sample.
                concurrency?.drop()
            }
        case .failure(let error):
            breaker?.release(BreakerOutcome(error: error, isCutShort: isCutShort), now: now)
            if headStatus.map(Self.isOverload) ?? Self.isTimeoutOfServer(error, isCutShort: isCutShort) {
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

    private static func isTimeoutOfServer(_ error: ErrandError, isCutShort: Bool) -> Bool {
        error.isTimeout && error != .timeoutQueue && error != .deadlineExceeded
            && !(isCutShort && error == .timeoutTotal)
    }

    private func learn(_ response: Response) {
        guard let rate else { return }
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        rate.serverAnswered(
            key, ServerRateLimit(response.headers, status: response.statusCode, date: Int64(time.tv_sec)))
    }
}
