import CoreMetrics
import Errand

/// The instruments for attempts and requests of all servers, and the maker of the handles of a server. Any thread.
final class AttemptInstruments: Sendable {
    let options: ClientMetrics.Options
    let maker: MetricMaker
    private let reused: Counter
    private let notReused: Counter
    private let queueTime: Recorder
    private let attemptCount: Recorder
    private let cacheSets: LabelSets<String, Counter>

    init(_ maker: MetricMaker, limit: Int) {
        options = maker.options
        self.maker = maker
        // Both are there from the beginning: a ratio with a counter that is missing has no value.
        reused = maker.counter(MetricName.attempts, [("errand.connection.reused", "true")])
        notReused = maker.counter(MetricName.attempts, [("errand.connection.reused", "false")])
        queueTime = maker.recorder(MetricName.timeInQueue)
        attemptCount = maker.recorder(MetricName.requestAttempts)
        cacheSets = LabelSets(limit: limit) { maker.counter(MetricName.cacheRequests, [("errand.cache.result", $0)]) }
    }

    /// The end of an attempt that has reached the engine.
    func attemptEnded(_ summary: TransferSummary) {
        // An attempt without a connection says nothing about connection reuse.
        if summary.isConnectionReused {
            reused.increment()
        } else if summary.hasConnected {
            notReused.increment()
        }
        queueTime.record(Duration.seconds(ofNanoseconds: summary.queue))
    }

    /// The end of a request. `cache`: the part of the cache in the request; `nil`: it had none.
    func requestEnded(attempts: Int, cache: String?) {
        attemptCount.record(attempts)
        if let cache { cacheSets.handles(cache, otherwise: HTTPConventions.other).increment() }
    }
}
