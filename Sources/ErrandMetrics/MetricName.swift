/// The names of the metrics.
enum MetricName {
    // By OpenTelemetry's conventions.
    static let duration = "http.client.request.duration"
    static let activeRequests = "http.client.active_requests"
    static let requestBodySize = "http.client.request.body.size"
    static let responseBodySize = "http.client.response.body.size"

    // There are no conventions for the following.
    static let attempts = "errand.attempts"
    static let timeInQueue = "errand.request.time_in_queue"
    static let requestDuration = "errand.request.duration"
    static let requestAttempts = "errand.request.attempts"
    static let cacheRequests = "errand.cache.requests"

    static let queued = "errand.engine.queued"
    static let inFlight = "errand.engine.in_flight"
    static let connections = "errand.engine.connections"
    static let connectionsOpened = "errand.engine.connections.opened"
    static let turns = "errand.engine.turns"
    static let turnTime = "errand.engine.turn.time"
    static let longestTurn = "errand.engine.turn.longest"
    static let lags = "errand.engine.lags"
    static let lagTime = "errand.engine.lag.time"
    static let longestLag = "errand.engine.lag.longest"
    static let wakeUps = "errand.engine.wakeups"
    static let deliveries = "errand.engine.deliveries"

    static let retries = "errand.retries"
    static let retriesStopped = "errand.retries.stopped"
    static let hedges = "errand.hedges"
    static let refusals = "errand.refusals"
    static let breakers = "errand.breakers"
    static let breakerState = "errand.breaker.state"
    static let breakerTransitions = "errand.breaker.transitions"
    static let budget = "errand.retry.budget"
    static let limitWaits = "errand.limit.waits"
    static let limits = "errand.limit.requests"
}
