import Synchronization

/// Reports the progress of a request: fraction, rate, time left.
///
/// ```swift
/// request.addAccessory(ProgressAccessory { progress in
///     print(progress.fraction ?? 0, progress.bytesPerSecond ?? 0, progress.timeLeft ?? .zero)
/// })
/// ```
///
/// Calls back on the callback queue, at most ten times a second, and once more with the final numbers before the
/// request ends, if any bytes moved. (YTKNetwork `resumableDownloadProgressBlock`, `uploadProgressBlock`.)
public final class ProgressAccessory: EventAccessory {
    /// The bytes that count.
    public enum Direction: Sendable, Hashable {
        /// The bytes of the request's body.
        case upload
        /// The bytes of the response's body.
        case download
        /// The bytes of both bodies together.
        case both
    }

    private let direction: Direction
    private let now: @Sendable () -> Duration
    private let report: @Sendable (ProgressReport) -> Void
    private let meters = Mutex<[UInt64: ProgressMeter]>([:])

    /// Creates an accessory that calls `report` whenever the numbers have changed.
    ///
    /// - Parameters:
    ///   - direction: The bytes that count. Default: both.
    ///   - clock: The clock for rates. Default: the continuous clock.
    ///   - report: Called on the callback queue.
    public init(
        _ direction: Direction = .both, clock: some Clock<Duration> = ContinuousClock(),
        report: @escaping @Sendable (ProgressReport) -> Void
    ) {
        self.direction = direction
        self.report = report
        let start = clock.now
        now = { start.duration(to: clock.now) }
    }

    /// Starts counting.
    public func requestWillStart(_ request: AnyRequest) {
        meters.withLock { $0[request.id] = ProgressMeter(start: now()) }
    }

    /// Updates the numbers. After a redirect or a replay, counting starts from zero again.
    public func request(_ request: AnyRequest, did event: RequestEvent) {
        switch event {
        case .progress(let progress):
            let (moved, total) = direction.bytes(of: progress)
            let progress = meters.withLock { meters in
                // A resumed download counts the bytes of an earlier run.
                if request.isDownload { meters[request.id]?.began(with: moved, at: now()) }
                return meters[request.id]?.moved(moved, of: total, at: now())
            }
            if let progress { report(progress) }
        case .redirected, .replaying, .retrying:
            meters.withLock { $0[request.id]?.restarted(at: now()) }
        case .queued, .started, .connected, .sent, .head, .resent, .decided, .advanced, .answered, .fellBack, .cacheHit,
            .cached:
            break
        }
    }

    /// Removes the request's numbers.
    public func requestWillStop(_ request: AnyRequest) {
        _ = meters.withLock { $0.removeValue(forKey: request.id) }
    }

    /// No effect.
    public func requestDidStop(_ request: AnyRequest) {}
}

extension ProgressAccessory.Direction {
    fileprivate func bytes(of progress: TransferProgress) -> (moved: UInt64, total: UInt64?) {
        switch self {
        case .upload:
            return (progress.bytesSent, progress.bytesToSend)
        case .download:
            return (progress.bytesReceived, progress.bytesToReceive)
        case .both:
            // A request without a body has nothing to send. The size of the response is known only with the head.
            let toSend = progress.bytesToSend ?? (progress.bytesSent == 0 ? 0 : nil)
            guard let toSend, let toReceive = progress.bytesToReceive else {
                return (progress.bytesSent &+ progress.bytesReceived, nil)
            }
            return (progress.bytesSent &+ progress.bytesReceived, toSend &+ toReceive)
        }
    }
}
