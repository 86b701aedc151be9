import CoreMetrics
import Errand

/// The engine's statistics as metrics. Any thread.
final class EngineMetrics: Sendable {
    /// A meter, made when it is set first.
    private enum Place: Hashable {
        case queued(Priority), inFlight(Priority), active, idle, longestTurn, longestLag

        /// Its metric, and the label that it has besides the client's name.
        var label: (name: String, dimensions: [(String, String)]) {
            switch self {
            case .queued(let priority): (MetricName.queued, [("errand.request.priority", priority.label)])
            case .inFlight(let priority): (MetricName.inFlight, [("errand.request.priority", priority.label)])
            case .active: (MetricName.connections, [("http.connection.state", "active")])
            case .idle: (MetricName.connections, [("http.connection.state", "idle")])
            case .longestTurn: (MetricName.longestTurn, [])
            case .longestLag: (MetricName.longestLag, [])
            }
        }
    }

    private let meters: LabelSets<Place, HeldMeter>
    private let opened: Counter
    private let turns: Counter
    private let turnTime: FloatingPointCounter
    private let lags: Counter
    private let lagTime: FloatingPointCounter
    private let wakeUps: Counter
    private let deliveries: Counter

    init(_ maker: MetricMaker) {
        func counter(_ name: String) -> Counter { maker.counter(name, maker.ofClient()) }
        func seconds(_ name: String) -> FloatingPointCounter { maker.seconds(name, maker.ofClient()) }
        meters = LabelSets {
            maker.meter($0.label.name, maker.ofClient($0.label.dimensions))
        } drop: {
            $0.close()
        }
        opened = counter(MetricName.connectionsOpened)
        turns = counter(MetricName.turns)
        turnTime = seconds(MetricName.turnTime)
        lags = counter(MetricName.lags)
        lagTime = seconds(MetricName.lagTime)
        wakeUps = counter(MetricName.wakeUps)
        deliveries = counter(MetricName.deliveries)
    }

    /// Sets the meters. `statistics` is `nil`: there is no engine.
    func set(_ statistics: EngineStatistics?) {
        let present = statistics ?? EngineStatistics()
        for priority in Priority.allCases {
            set(.queued(priority), Double(present.queuedByPriority[priority] ?? 0))
            set(.inFlight(priority), Double(present.inFlightByPriority[priority] ?? 0))
        }
        set(.idle, Double(present.connectionsIdle))
        set(.active, Double(max(0, present.connectionsOpen - present.connectionsIdle)))
        set(.longestTurn, present.longestTurn.asSeconds)
        set(.longestLag, present.longestLag.asSeconds)
    }

    /// `statistics` is `nil`: there is no engine, or it has stopped. `last`: what was recorded last; counters are
    /// incremented by the growth of the totals.
    func collect(_ statistics: EngineStatistics?, since last: inout EngineStatistics) {
        guard let statistics else { return }
        opened.add(last.connectionsOpened.rise(to: statistics.connectionsOpened))
        turns.add(last.turns.rise(to: statistics.turns))
        turnTime.add(last.turnTime.rise(to: statistics.turnTime))
        lags.add(last.lags.rise(to: statistics.lags))
        lagTime.add(last.lagTime.rise(to: statistics.lagTime))
        wakeUps.add(last.wakeUps.rise(to: statistics.wakeUps))
        deliveries.add(last.deliveries.rise(to: statistics.deliveries))
    }

    private func set(_ place: Place, _ value: Double) { meters.handles(place).meter.set(value) }

    /// Closes the meters: the client is gone, or another client of its engine has the meters. The last values would stay
    /// otherwise.
    func close() {
        for meter in meters.removeAll() { meter.close() }
    }
}

extension AdditiveArithmetic where Self: Comparable {
    /// Moves up to a total, and never back. Returns the difference.
    mutating func rise(to total: Self) -> Self {
        guard total > self else { return .zero }
        defer { self = total }
        return total - self
    }
}

extension Counter {
    func add(_ growth: Int) {
        if growth > 0 { increment(by: growth) }
    }
}

extension FloatingPointCounter {
    /// In seconds.
    fileprivate func add(_ growth: Duration) {
        if growth > .zero { increment(by: growth.asSeconds) }
    }
}

extension Priority {
    /// Its value of `errand.request.priority`.
    fileprivate var label: String {
        switch self {
        case .low: "low"
        case .normal: "normal"
        case .high: "high"
        }
    }
}
