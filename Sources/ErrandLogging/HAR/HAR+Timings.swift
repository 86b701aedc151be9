extension HAR {
    /// How long each phase of an exchange took. Kept with microseconds. `nil`: the phase did not happen, or is not known.
    public struct Timings: Sendable, Hashable {
        /// In queues, and in the client itself.
        public var blocked: Duration?
        /// Looking up the name of the host.
        public var dns: Duration?
        /// Connecting, ``ssl`` included.
        public var connect: Duration?
        /// The TLS handshake, a part of ``connect``.
        public var ssl: Duration?
        /// Sending the request.
        public var send: Duration
        /// From the request to the first byte of the response.
        public var wait: Duration
        /// From the first byte of the response to the last.
        public var receive: Duration

        /// Makes timings; the default is no time at all.
        public init(
            blocked: Duration? = nil, dns: Duration? = nil, connect: Duration? = nil, ssl: Duration? = nil,
            send: Duration = .zero, wait: Duration = .zero, receive: Duration = .zero
        ) {
            self.blocked = blocked
            self.dns = dns
            self.connect = connect
            self.ssl = ssl
            self.send = send
            self.wait = wait
            self.receive = receive
        }

        /// The sum of the phases; ``ssl`` counts once, as a part of ``connect``.
        public var total: Duration { untilFirstByte + receive }

        /// The time from the start to the first byte of the response.
        public var untilFirstByte: Duration {
            (blocked ?? .zero) + (dns ?? .zero) + (connect ?? .zero) + send + wait
        }
    }
}

extension HAR.Timings {
    /// The phases of a transfer. Whether the connection was reused is taken from its count of requests, not from
    /// libcurl's times, which are above zero on reused connections too. Times that do not increase are clamped.
    /// libcurl's own time before the request is sent belongs to ``blocked``, so that the sum is the whole time.
    ///
    /// libcurl reports when the last byte was sent only since 8.10. Therefore ``send`` is zero, and ``wait`` contains
    /// that time.
    public init(_ metrics: TransferMetrics) {
        let total = max(0, metrics.total.wholeMicroseconds)
        let isNew = !metrics.isConnectionReused
        /// At least `start`, at most the total.
        func point(_ time: Duration?, after start: Int64) -> Int64? {
            time.map { min(max($0.wholeMicroseconds, start), total) }
        }
        let looked = isNew ? point(metrics.resolved, after: 0) : nil
        let connected = isNew ? point(metrics.connected, after: looked ?? 0) : nil
        let secured = isNew && metrics.secured != nil ? point(metrics.secured, after: connected ?? looked ?? 0) : nil
        let ready = point(metrics.sent, after: secured ?? connected ?? looked ?? 0)
        var (lookup, connecting) = (looked, (secured ?? connected).map { $0 - (looked ?? 0) })
        var end = ready ?? secured ?? connected ?? looked ?? 0
        if ready == nil, isNew, total > 0 {
            // The transfer ended while it connected: the rest of the time belongs to the phase that did not end.
            if (looked ?? connected ?? secured) == nil {
                lookup = total
            } else {
                connecting = total - (looked ?? 0)
            }
            end = total
        }
        let first = point(metrics.firstByte, after: end) ?? total
        self.init(
            blocked: .microseconds(
                max(0, metrics.queue.wholeMicroseconds) + end - (lookup ?? 0) - (connecting ?? 0)),
            dns: lookup.map { .microseconds($0) }, connect: connecting.map { .microseconds($0) },
            ssl: secured.map { .microseconds($0 - (connected ?? looked ?? 0)) }, send: .zero,
            wait: .microseconds(first - end), receive: .microseconds(total - first))
    }

    /// The phases as the metrics of a transfer, for a recorded exchange that is replayed.
    package var metrics: TransferMetrics {
        var metrics = TransferMetrics()
        metrics.queue = blocked ?? .zero
        var now = Duration.zero
        if let dns {
            now += dns
            metrics.resolved = now
        }
        if let connect {
            if let ssl, ssl <= connect {
                metrics.connected = now + connect - ssl
                metrics.secured = now + connect
            } else {
                metrics.connected = now + connect
            }
            now += connect
        }
        metrics.isConnectionReused = connect == nil
        metrics.sent = now
        now += send + wait
        metrics.firstByte = now
        metrics.total = now + receive
        return metrics
    }
}
