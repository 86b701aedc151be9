import CErrand

/// What an engine has counted: totals since its start, and how much there is now. A value: any thread.
///
/// The numbers are read without a lock. Each was exact at some moment, but two of them may be from different moments.
///
/// A **turn** is one pass of an event loop. It begins when sockets are ready, a timer is due or another thread has woken the
/// loop, and ends when the loop waits again. All of the engine's work is in turns. A **lag** is the time for which a loop
/// that was woken, or whose timer was due, did not begin its turn, because its thread had no processor. What waits while a
/// turn runs counts for that turn, not as a lag. So a long ``longestTurn`` says that the loop has too much to do, and a long
/// ``longestLag`` that the system, or a limit of the container, gives the process too little of the processor.
///
/// The longest turn and lag are those of the last 15 to 30 seconds, of all event loops. Reading them resets nothing.
/// Times of more than 68 seconds count as 68. The engine does not count how often a connection was reused;
/// ``TransferMetrics/isConnectionReused`` says it for each transfer.
public struct EngineStatistics: Sendable, Hashable {
    /// The transfers that the engine has accepted.
    public var submitted = 0
    /// The transfers that have ended, for whatever reason.
    public var completed = 0
    /// Now: the transfers inside libcurl.
    public var inFlight = 0
    /// Now: the transfers that were accepted and wait for admission (``Client/Configuration/inFlightLimit``,
    /// ``Client/Configuration/originInFlightLimit``).
    public var queued = 0
    /// Now: the parts of ``queued``. Every priority has an entry.
    public var queuedByPriority: [Priority: Int] = [.low: 0, .normal: 0, .high: 0]
    /// Now: the parts of ``inFlight``. Every priority has an entry.
    public var inFlightByPriority: [Priority: Int] = [.low: 0, .normal: 0, .high: 0]
    /// The connections that were opened.
    public var connectionsOpened = 0
    /// Now: the open connections, idle ones included.
    public var connectionsOpen = 0
    /// Now: the open connections that carry no transfer.
    public var connectionsIdle = 0
    /// The signals that were sent to sleeping event loops.
    public var wakeUps = 0
    /// The passes of all event loops. A pass may serve many transfers.
    public var turns = 0
    /// The time that all these passes have taken. With the time that has passed, it says how busy the loops are.
    public var turnTime = Duration.zero
    /// Lately: the longest pass.
    public var longestTurn = Duration.zero
    /// The number of signals and timers whose lags are summed up in ``lagTime``.
    public var lags = 0
    /// The sum of the times by which passes began too late. A timer is due within a millisecond; its lag counts from
    /// the end of that millisecond.
    public var lagTime = Duration.zero
    /// Lately: the longest lag.
    public var longestLag = Duration.zero
    /// The deliveries of events to Swift: at most one for each turn.
    public var deliveries = 0
    /// The calls of `epoll_ctl`.
    public var pollChanges = 0
    /// Now: the multi handles of libcurl.
    public var multiHandles = 0
    /// The event loops, each with a thread.
    public var loops = 0

    /// Makes statistics of nothing.
    public init() {}

    init(_ stats: errand_stats) {
        submitted = Int(clamping: stats.submitted)
        completed = Int(clamping: stats.completed)
        inFlight = Int(clamping: stats.in_flight)
        queued = Int(clamping: stats.queued)
        queuedByPriority = Self.byPriority(stats.queued_by_priority)
        inFlightByPriority = Self.byPriority(stats.in_flight_by_priority)
        connectionsOpened = Int(clamping: stats.connections_opened)
        connectionsOpen = Int(clamping: stats.connections_open)
        connectionsIdle = Int(clamping: stats.connections_idle)
        wakeUps = Int(clamping: stats.wakeups)
        turns = Int(clamping: stats.turns)
        turnTime = .nanoseconds(Int64(clamping: stats.turn_ns))
        longestTurn = .nanoseconds(Int64(clamping: stats.longest_turn_ns))
        lags = Int(clamping: stats.lags)
        lagTime = .nanoseconds(Int64(clamping: stats.lag_ns))
        longestLag = .nanoseconds(Int64(clamping: stats.longest_lag_ns))
        deliveries = Int(clamping: stats.batches)
        pollChanges = Int(clamping: stats.poll_changes)
        multiHandles = Int(clamping: stats.multis)
        loops = Int(clamping: stats.loops)
    }

    /// `counts`: by errand_priority.
    private static func byPriority(_ counts: (normal: UInt64, low: UInt64, high: UInt64)) -> [Priority: Int] {
        [
            .low: Int(clamping: counts.low), .normal: Int(clamping: counts.normal), .high: Int(clamping: counts.high),
        ]
    }
}

extension ReactorTransport {
    /// What the engine has counted; `nil` where the engine did not start or its threads have ended. Any thread.
    package var statistics: EngineStatistics? {
        guard case .success(let reactor) = reactor else { return nil }
        return reactor.withGroup { group in
            var stats = errand_stats()
            errand_group_stats(group, &stats)
            return EngineStatistics(stats)
        }
    }
}
