public import CoreMetrics
import Errand
import Synchronization

/// Records the work of a client with swift-metrics, by OpenTelemetry's conventions for HTTP clients.
///
/// ```swift
/// let metrics = ClientMetrics()
/// configuration.metrics = metrics
/// let client = Client(configuration: configuration)
/// let collecting = Task { await metrics.run() }
/// ```
///
/// Make one object for each client, after `MetricsSystem.bootstrap`: the factory is taken when the object is made. Two
/// kinds of metrics are recorded:
///
/// - By the attempts and runs themselves: `http.client.request.duration`, `http.client.active_requests`, the sizes of
///   bodies, and the duration, the attempts and the cache's part of each request.
/// - By ``collect()``, which a program calls itself or lets ``run()`` call: the engine's statistics, retries, hedges,
///   breakers, budgets and limits.
///
/// The duration is that of one **attempt on the wire**, as the conventions want it: each redirect, replay, retry and hedge
/// is an attempt. It begins when the attempt is handed to the engine, so it includes the wait for admission. It ends
/// with the attempt. For a streamed response (``/Errand/Client/stream(_:overrides:)``, downloads, WebSockets) it ends
/// with the head, because the reader may take any time. A response from the cache is no attempt.
///
/// Durations are recorded by a `Recorder` in seconds, not by a `Timer`: the conventions' unit is the second, and a
/// `Timer` counts nanoseconds, which each backend exports in a unit of its own. swift-metrics knows no buckets; give
/// ``histogramBuckets`` to the backend.
///
/// Every label set of a metric has the same names, because swift-prometheus traps otherwise; an attribute without a value
/// is an empty text. Set ``Options/omitsEmptyLabels`` for other backends. The servers among the labels are bounded by
/// ``Options/labelSetLimit``, and no URL ever becomes a label.
///
/// All methods may be called on any thread. A request finds its series by comparing its server, method and template with
/// those of the requests before it; labels are made for the first request of each kind, and its instruments are kept.
/// If the backend does not block, no request waits for it.
///
/// **Cost.** With a backend that does nothing, a plain request, which is sent once, costs 8,300 more instructions and
/// one object. A client without metrics takes 21,000 instructions for it. Other requests cost more: each further
/// attempt (redirect, retry, hedge) has an object of its own. So has the first attempt of a request that is streamed,
/// cached, shared, hedged, downloaded or reports events, or of a client with `resilience`. The cost of the backend is
/// added: about seven calls for each attempt and request.
///
/// Sources: OpenTelemetry semantic conventions v1.44, `docs/http/http-metrics.md`.
public final class ClientMetrics: Sendable {
    /// The boundaries of the histogram that the conventions advise for `http.client.request.duration`, in seconds.
    public static let durationBuckets: [Double] = [
        0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
    ]

    /// The boundaries of all histograms, by the names of the recorders: durations in seconds, attempts, bytes.
    ///
    /// swift-metrics cannot pass them on, so give them to the backend, for example as the `valueHistogramBuckets` of a
    /// factory of swift-prometheus. With boundaries that are made for other units, quantiles mean nothing.
    public static let histogramBuckets: [String: [Double]] = [
        MetricName.duration: durationBuckets, MetricName.requestDuration: durationBuckets,
        MetricName.timeInQueue: durationBuckets, MetricName.requestAttempts: [0, 1, 2, 3, 4, 5, 10],
        MetricName.requestBodySize: sizeBuckets, MetricName.responseBodySize: sizeBuckets,
    ]

    private static let sizeBuckets: [Double] = [0, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000]

    /// What is recorded.
    public let options: Options
    private let clock: any Clock<Duration>
    private let backend: BackendIdentity
    /// Held while counts of resilience are read and recorded, so that no growth is counted twice. `nil`: there is no
    /// client yet.
    private let observed = Mutex<Observed?>(nil)

    /// The object that attempts and runs report to.
    let recording: AttemptRecording
    private let engine: EngineMetrics
    private let resilience: ResilienceMetrics

    /// The client that is observed, its engine, and the totals of its resilience that were recorded last.
    private struct Observed: Sendable {
        weak let client: Client?
        let engine: MeasuredEngine
        var resilience: ResilienceTotals
    }

    /// Makes metrics for one client.
    ///
    /// - Parameters:
    ///   - options: what is recorded.
    ///   - factory: the backend; `nil`, the default: `MetricsSystem.factory`, read now.
    ///   - clock: measures ``Options/interval`` for ``run()``.
    public init(
        _ options: Options = Options(), factory: (any MetricsFactory)? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        let factory = factory ?? MetricsSystem.factory
        let limit = max(options.labelSetLimit, 1)
        self.options = options
        self.clock = clock
        backend = BackendIdentity(factory)
        let maker = MetricMaker(options: options, factory: factory)
        recording = AttemptRecording(maker, limit: limit)
        engine = EngineMetrics(maker)
        resilience = ResilienceMetrics(maker, limit: limit)
    }

    deinit {
        recording.close()
        observed.withLock({ $0 })?.engine.collect(without: engine)
        resilience.close()
    }

    // MARK: Statistics

    /// Records the present statistics of the client's engine and of its resilience. Does nothing before a client was made
    /// with this object. When the client has shut down or is gone, its meters are set to 0 and destroyed, because their last
    /// values would stay otherwise. Meters that another object uses too, such as the object of a following client with
    /// the same name, are left to that object. All this also happens when this object is released. Costs some hundred
    /// loads, and a lock for each breaker and budget. If two calls run at the same time, the second waits.
    ///
    /// An engine that several clients share is recorded once for each backend, with the name of the client that came
    /// first. Each call for any of these clients records the engine. When the first client has shut down or is gone, the
    /// next client's series go on from the same totals.
    public func collect() {
        guard let present = observed.withLock({ $0 }) else { return }
        present.engine.collect()
        guard let client = present.client else { return resilience.close() }
        observed.withLock { observed in
            guard var last = observed, last.client === client else { return }
            let parts = client.resilience
            if let parts { resilience.collect(parts, since: &last.resilience) }
            observed = last
            // A client that drains still has requests.
            guard !client.isStopping else { return resilience.close() }
            if let parts { resilience.set(parts) }
        }
        // Not released while the lock is held: this may be the last reference.
        withExtendedLifetime(client) {}
    }

    /// Calls ``collect()`` now and every ``Options/interval`` until the task is cancelled, and then once more.
    /// Continues when the client is gone, because a `Service` that returns would end its group. The method can be the
    /// `run` of a `Service`:
    ///
    /// ```swift
    /// struct MetricsService: Service {
    ///     let metrics: ClientMetrics
    ///     func run() async throws { await cancelWhenGracefulShutdown { await metrics.run() } }
    /// }
    /// ```
    public func run() async {
        while !Task.isCancelled {
            collect()
            guard (try? await clock.sleep(for: max(options.interval, .milliseconds(1)))) != nil else { break }
        }
        // What has happened since the last call, such as a shutdown.
        collect()
    }

    /// A client was made with this object. Earlier counts of its parts, for other clients, do not belong to this client.
    func observe(_ client: Client) {
        let present = Observed(
            client: client, engine: MeasuredEngine.of(client, backend),
            resilience: ResilienceTotals(client.resilience))
        let former = observed.withLock { observed -> Observed? in
            defer { observed = present }
            return observed
        }
        former?.engine.collect(without: engine)
        present.engine.enter(client, engine)
    }
}
