import Synchronization

/// Tells how far a request is: fraction, rate, time left.
///
/// ```swift
/// request.addAccessory(ProgressAccessory { progress in
///     print(progress.fraction ?? 0, progress.bytesPerSecond, progress.timeLeft ?? .zero)
/// })
/// ```
///
/// On the callback queue, at most ten times a second, and once more with the last numbers before the request ends where
/// any bytes moved. (YTKNetwork `resumableDownloadProgressBlock`, `uploadProgressBlock`.)
public final class ProgressAccessory: EventAccessory {
    /// Which bytes count.
    public enum Direction: Sendable, Hashable {
        /// Those of the request's body.
        case upload
        /// Those of the response's body.
        case download
        /// Both together.
        case both
    }

    private let direction: Direction
    private let now: @Sendable () -> Duration
    private let told: @Sendable (ProgressReport) -> Void
    private let meters = Mutex<[UInt64: ProgressMeter]>([:])

    /// Calls `told` whenever the numbers have changed.
    ///
    /// - Parameters:
    ///   - direction: Which bytes count. Default: both.
    ///   - clock: What rates are measured by. Default: the continuous clock.
    ///   - told: Called on the callback queue.
    public init(
        _ direction: Direction = .both, clock: some Clock<Duration> = ContinuousClock(),
        told: @escaping @Sendable (ProgressReport) -> Void
    ) {
        self.direction = direction
        self.told = told
        let start = clock.now
        now = { start.duration(to: clock.now) }
    }

    /// Counts from here.
    public func requestWillStart(_ request: AnyRequest) {
        meters.withLock { $0[request.id] = ProgressMeter(start: now()) }
    }

    /// Takes the numbers; another hop or a replay counts from zero again.
    public func request(_ request: AnyRequest, did event: RequestEvent) {
        switch event {
        case .progress(let progress):
            let (moved, total) = direction.bytes(of: progress)
            let report = meters.withLock { meters in
                // It counts what an earlier run has left.
                if request.isDownload { meters[request.id]?.began(with: moved, at: now()) }
                return meters[request.id]?.moved(moved, of: total, at: now())
            }
            if let report { told(report) }
        case .redirected, .replaying:
            meters.withLock { $0[request.id]?.restarted(at: now()) }
        case .queued, .started, .sent, .head, .advanced, .cacheHit, .cached:
            break
        }
    }

    /// Forgets it.
    public func requestWillStop(_ request: AnyRequest) {
        _ = meters.withLock { $0.removeValue(forKey: request.id) }
    }
}

extension ProgressAccessory.Direction {
    fileprivate func bytes(of progress: TransferProgress) -> (moved: UInt64, total: UInt64?) {
        switch self {
        case .upload:
            return (progress.bytesSent, progress.bytesToSend)
        case .download:
            return (progress.bytesReceived, progress.bytesToReceive)
        case .both:
            // A request without a body has nothing to send; what is to come is known with the head alone.
            let toSend = progress.bytesToSend ?? (progress.bytesSent == 0 ? 0 : nil)
            guard let toSend, let toReceive = progress.bytesToReceive else {
                return (progress.bytesSent &+ progress.bytesReceived, nil)
            }
            return (progress.bytesSent &+ progress.bytesReceived, toSend &+ toReceive)
        }
    }
}
