import CoreMetrics
import Errand
import Synchronization

/// The series of one set of ``ServerLabels``: the handles that its attempts and requests are recorded with. Each handle
/// is made when it is used first. The object observes all attempts to the server; the values that differ between them
/// are in their ``AttemptNote``s. Any thread.
final class ServerSeries: ObservedAttempt {
    private let labels: ServerLabels
    private let instruments: AttemptInstruments
    private let attempts = HandleList<AttemptKey, AttemptHandles>()
    private let requests = HandleList<RequestKey, RequestHandles>()
    private let active = Mutex(Active())
    /// When an attempt has ended last, or when this object was made.
    private let used = Atomic<Int64>(Stopwatch.bootTime())
    /// Whether the server has lost its series. Runs that have found this object before may still record here.
    private let isRetired = Atomic<Bool>(false)
    /// Whether the series is that of many servers, and is never given up.
    let isOverflow: Bool

    /// The attempts in flight.
    private struct Active: Sendable {
        var count = 0
        /// `nil`: no attempt has begun yet, or they are not recorded.
        var meter: HeldMeter?
    }

    init(_ labels: ServerLabels, _ instruments: AttemptInstruments, isOverflow: Bool) {
        self.labels = labels
        self.instruments = instruments
        self.isOverflow = isOverflow
    }

    deinit {
        active.withLock { $0.meter }?.close()
    }

    // MARK: Idle servers

    /// When the server was in use last, in nanoseconds of `Stopwatch.bootTime()`.
    var lastUse: Int64 { used.load(ordering: .relaxed) }

    /// Gives up the instruments, unless an attempt runs. A run that has found this object before may still record. Its
    /// instruments are then made once more, and are released with this object.
    func retire() -> Bool {
        let (isIdle, meter) = active.withLock { active -> (Bool, HeldMeter?) in
            guard active.count == 0 else { return (false, nil) }
            defer { active.meter = nil }
            return (true, active.meter)
        }
        guard isIdle else { return false }
        isRetired.store(true, ordering: .relaxed)
        meter?.close()
        for handles in attempts.removeAll() { handles.retire() }
        for handles in requests.removeAll() { handles.retire() }
        return true
    }

    // MARK: Attempts

    /// An attempt is about to be handed to the engine.
    func attemptBegins() {
        let meter = active.withLock { active -> HeldMeter? in
            active.count += 1
            return active.meter
        }
        guard instruments.options.recordsActiveRequests else { return }
        (meter ?? madeActive()).meter.increment()
    }

    /// The meter of the attempts in flight. If two threads make it at the same time, the meter of the first is kept.
    private func madeActive() -> HeldMeter {
        let made = instruments.maker.meter(MetricName.activeRequests, labels.dimensions(instruments.options))
        let present = active.withLock { active -> HeldMeter? in
            if let meter = active.meter { return meter }
            active.meter = made
            return nil
        }
        guard let present else { return made }
        made.close()
        return present
    }

    /// An attempt is over, `time` nanoseconds after its beginning.
    private func attemptEnds(_ note: AttemptNote, after time: Int64) {
        // No clock is read for it: this is the end that the attempt has measured.
        used.store(note.timer.time(after: time), ordering: .relaxed)
        let meter = active.withLock { active -> HeldMeter? in
            // Never below 0, whatever a transport reports.
            guard active.count > 0 else { return nil }
            active.count -= 1
            return active.meter
        }
        meter?.meter.decrement()
    }

    func headArrived(_ head: Response, of scope: AttemptScope, _ note: inout AttemptNote) {
        guard note.isStreamed, note.kept == nil else { return }
        note.kept = record(
            note.timer.timeToHead(head), AttemptKey(head: head, version: HTTPConventions.protocolVersion(ofHead: head)))
    }

    /// The attempt is measured as a whole, however often libcurl sends it.
    func repeated(number: Int, of scope: AttemptScope, _ note: inout AttemptNote) {}

    func ended(_ result: TransferResult, of scope: AttemptScope, _ note: inout AttemptNote) {
        let summary = HTTPConventions.summary(of: result)
        let time = summary?.duration ?? note.timer.elapsed
        // The duration is recorded once. For a streamed response it was recorded at the head.
        if note.kept == nil { note.kept = record(time, AttemptKey(result, version: summary?.httpVersion)) }
        attemptEnds(note, after: time)
        guard let summary else { return }
        instruments.attemptEnded(summary)
        guard instruments.options.recordsBodySizes, let handles = note.kept as? AttemptHandles else { return }
        handles.requestSize?.record(Int64(clamping: summary.bytesSent))
        handles.responseSize?.record(Int64(clamping: summary.bytesReceived))
    }

    func refused(_ error: ErrandError, of scope: AttemptScope, _ note: inout AttemptNote) {
        let time = note.timer.elapsed
        note.kept = record(time, AttemptKey(refused: error))
        attemptEnds(note, after: time)
    }

    /// Records the duration of an attempt, in nanoseconds. Returns the other handles of these labels.
    private func record(_ time: Int64, _ key: AttemptKey) -> AttemptHandles {
        let handles = attempts.handles(key) { key in
            let made = AttemptHandles(labels.dimensions(instruments.options) + key.dimensions, instruments.maker)
            if isRetired.load(ordering: .relaxed) { made.retire() }
            return made
        }
        handles.duration.record(Duration.seconds(ofNanoseconds: time))
        return handles
    }

    // MARK: Requests

    /// A request has ended after `time` nanoseconds.
    func requestEnded(_ outcome: RunOutcome, after time: Int64) {
        let handles = requests.handles(RequestKey(outcome)) { key in
            let made = RequestHandles(labels.dimensions(instruments.options) + key.dimensions, instruments.maker)
            if isRetired.load(ordering: .relaxed) { made.retire() }
            return made
        }
        handles.duration.record(Duration.seconds(ofNanoseconds: time))
    }
}
