import HTTPTypes
import Synchronization

/// The shell around `DownloadStateMachine` for one transfer of a download's request: performs the machine's actions on
/// the part and the underlying transport.
///
/// `@unchecked Sendable`: all mutable state is read and written on `queue` alone, the file queue. Blocking on a disk
/// blocks only this download.
final class DownloadRun: @unchecked Sendable {
    enum Phase {
        case running
        /// A response that is not content is being passed to the request, with the part of its body that is kept.
        case passingOn(DownloadTransfer, head: Response, body: [UInt8])
        /// The file at the destination is compared with the expected digest; the error is reported if the digests
        /// differ.
        case comparing(FinishedFile, ErrandError)
        case over
    }

    let id: TransferID
    let settings: DownloadSettings
    let queue: CallbackQueue
    let client: Client
    let place: DownloadPlace
    /// The request of each transfer, without the range.
    let description: RequestDescription
    let reports: RequestDescription.Reports
    /// Whether the engine decodes bodies.
    let isDecoding: Bool
    private let request: AnyRequest
    private let carrier: DownloadCarrier
    private let total: Duration?
    /// Whether the request's run has sent nothing before.
    private let isFirst: Bool
    private let stopwatch: Stopwatch

    var phase = Phase.running
    var machine: DownloadStateMachine
    var part: DownloadPart?
    /// The transfers in progress.
    var transfers: [DownloadTransfer] = []
    var sharing: RangeSharing?
    /// The head of the last accepted response, and the response at the end of its transfer.
    var head: Response?
    var end: Response?
    var validators = DownloadValidators()
    var length: Int64?
    var digest: String?
    var pace: DownloadPace
    /// Whether a transfer of this download was sent.
    var wasSent = false
    private var installed: String?
    private var lastReport: Duration?
    private var timers: [Task<Void, Never>] = []
    /// The timer of the next try.
    var retryTimer: Task<Void, Never>?

    /// The shortest interval between two progress reports.
    private static let interval = Duration.milliseconds(100)

    init(
        _ id: TransferID, _ description: RequestDescription, of request: AnyRequest, by carrier: DownloadCarrier,
        _ settings: DownloadSettings, _ queue: CallbackQueue
    ) throws(ErrandError) {
        self.id = id
        self.request = request
        self.carrier = carrier
        self.settings = settings
        self.queue = queue
        client = request.client
        place = DownloadPlace(settings: settings, url: request.firstURL ?? description.url)
        isFirst = request.isFirstTransfer
        reports = description.reports
        total = description.settings.timeouts.total?.duration
        var description = description
        try description.stream()
        // The total timeout runs here, over all transfers and the waits between them.
        description.settings = try description.settings.with(total: nil)
        description.reports = []
        // The bytes go to the disk, so nothing would use the memory that the process has chosen.
        description.options.subtract(.bodyMemory)
        self.description = description
        let connection = description.settings.connection ?? client.connection
        isDecoding = connection.encodings?.isEmpty == false
        machine = DownloadStateMachine(policy: settings.policy)
        pace = DownloadPace(settings.rate)
        stopwatch = Stopwatch(client.clock)
    }

    func now() -> Duration { stopwatch.now() }

    // MARK: Calls from the carrier

    func begin() {
        // The client may have stopped between the submission and this call; then no file may be opened.
        guard case .running = phase else { return }
        startTotalTimer()
        do throws(ErrandError) {
            part = try place.open()
            let found = part?.found
            if let found { (validators, length) = (found.validators, found.length) }
            perform(machine.started(found: found))
        } catch {
            perform(machine.gaveUp(isFirst ? error.refused : error))
        }
    }

    func stop() {
        if isPastMachine { return end(.failure(.cancelled)) }
        perform(machine.stopRequested())
    }

    /// The time is up, or the client was shut down.
    func giveUp(_ error: ErrandError) {
        if isPastMachine { return end(.failure(error)) }
        perform(machine.gaveUp(error))
    }

    /// The machine no longer controls the present work.
    private var isPastMachine: Bool {
        switch phase {
        case .passingOn, .comparing: true
        case .running, .over: false
        }
    }

    /// Pauses the run. The machine has ended while a response is being passed to the request, so the transfer of that
    /// response is paused directly.
    func pause() {
        if case .passingOn(let transfer, _, _) = phase { transfer.id.map(client.transport.pause) }
        perform(machine.pauseRequested())
    }

    func resume() {
        if case .passingOn(let transfer, _, _) = phase { transfer.id.map(client.transport.resume) }
        perform(machine.resumeRequested())
    }

    private func startTotalTimer() {
        guard let total else { return }
        timers.append(
            Task { [self] in
                guard (try? await stopwatch.sleep(for: total)) != nil else { return }
                queue.async { self.giveUp(.timeoutTotal) }
            })
    }

    // MARK: Actions

    func perform(_ first: DownloadStateMachine.Action) {
        var action = first
        while case .running = phase {
            do throws(ErrandError) {
                guard let next = try step(action) else { return }
                action = next
            } catch {
                action = machine.gaveUp(error)
            }
        }
    }

    /// Performs the action. Returns the next action; `nil` if there is none.
    private func step(_ action: DownloadStateMachine.Action) throws(ErrandError) -> DownloadStateMachine.Action? {
        switch action {
        case .none, .write:
            return nil
        case .take(let validators, let length):
            try take(validators, length)
            return nil
        case .takeFromZero(let validators, let length):
            try part?.restart()
            try take(validators, length)
            return nil
        case .hold:
            for transfer in transfers { transfer.id.map(client.transport.pause) }
            try part?.sync()
            return nil
        case .release:
            for transfer in transfers { transfer.id.map(client.transport.resume) }
            return fill()
        case .request(let ask):
            dropTransfers()
            return send(ask)
        case .restart(let ask):
            dropTransfers()
            try part?.restart()
            return send(ask)
        case .wait(let time):
            dropTransfers()
            try part?.sync()
            wait(time)
            return nil
        case .rest:
            dropTransfers()
            try part?.sync()
            return nil
        case .verify:
            dropTransfers()
            try part?.sync()
            queue.async { self.verify() }
            return nil
        case .install:
            dropTransfers()
            installed = try part?.install(settings.overwrite)
            return machine.installed()
        case .complete:
            finish()
            return nil
        case .stop:
            end(.failure(.cancelled))
            return nil
        case .fail(let error):
            if error == .fileExists, part == nil, let file = place.finished(for: head, from: description.url) {
                dropTransfers()
                phase = .comparing(file, error)
                queue.async { self.compare() }
                return nil
            }
            end(.failure(described(error).with(response: error.response ?? head)))
            return nil
        case .discard(let error):
            try? part?.discard()
            part = nil
            end(.failure(described(error).with(response: head)))
            return nil
        }
    }

    private func take(_ validators: DownloadValidators, _ length: Int64?) throws(ErrandError) {
        if part == nil, let head { try open(for: head) }
        (self.validators, self.length) = (validators, length)
        try part?.identify(validators, length: length, reservedUpTo: description.settings.bodyBytes)
        reportProgress(isLast: false)
    }

    private func open(for head: Response) throws(ErrandError) {
        let part = try place.open(for: head, from: description.url)
        // The part belongs to another URL or was written by another run meanwhile: this content starts from zero.
        if part.found != nil { try part.restart() }
        self.part = part
    }

    private func wait(_ time: Duration) {
        retryTimer = Task { [self] in
            do {
                try await client.sleep(for: time)
                queue.async { self.retry() }
            } catch let error as ErrandError {
                queue.async { self.cannotWait(error) }
            } catch {
                // Cancelled: nothing waits for the timer any more.
            }
        }
    }

    /// The client drains or is shut down: a waiting run ends; other states are not affected.
    private func cannotWait(_ error: ErrandError) {
        if case .waiting = machine.state { giveUp(error) }
    }

    private func retry() {
        guard case .running = phase else { return }
        perform(machine.retryTimerFired())
    }

    /// The number of bytes that are read at a time, so that a stop takes effect in between.
    private static let stride: Int64 = 8 << 20

    private func verify() {
        guard case .running = phase, case .verifying = machine.state else { return }
        do throws(ErrandError) {
            guard let digest = try part?.follow(atMost: Self.stride) else { return queue.async { self.verify() } }
            self.digest = digest
            perform(machine.digestChecked(matches: digest == settings.expectedDigest ?? digest))
        } catch {
            perform(machine.gaveUp(error))
        }
    }

    /// Like `verify`, for the file at the destination.
    private func compare() {
        guard case .comparing(let file, let error) = phase else { return }
        do throws(ErrandError) {
            guard let digest = try file.follow(atMost: Self.stride) else { return queue.async { self.compare() } }
            guard digest == settings.expectedDigest else { return end(.failure(error.with(response: head))) }
            let stored = StoredDownload(
                path: file.path, byteCount: file.byteCount, sha256: digest, resumedFrom: file.byteCount,
                validators: head.map { DownloadValidators($0.headers) } ?? DownloadValidators())
            end(.response(stored.response(head: head, end: nil)))
        } catch {
            end(.failure(error.with(response: head)))
        }
    }

    /// The error with the digests, which identify the file.
    private func described(_ error: ErrandError) -> ErrandError {
        guard error == .digestMismatch, let digest, let expected = settings.expectedDigest else { return error }
        return error.with(message: "SHA-256 is \(digest), expected \(expected)")
    }

    // MARK: Events to the request

    func report(_ event: TransferEvent.Kind) {
        TransferReceiver.deliver(CollectionOfOne(TransferEvent(request, event)))
    }

    func reportProgress(isLast: Bool) {
        guard reports.contains(.progress) else { return }
        let time = now()
        if !isLast, let lastReport, time - lastReport < Self.interval { return }
        lastReport = time
        let progress = TransferProgress(
            bytesReceived: UInt64(clamping: part?.received ?? 0), bytesToReceive: length.map { UInt64(clamping: $0) })
        report(.progress(progress))
    }

    private func finish() {
        guard let part, let installed else { return end(.failure(.internalFailure)) }
        length = length ?? part.received
        reportProgress(isLast: true)
        if validators == .ofEncoded, let head { validators = DownloadValidators(head.headers) }
        let file = StoredDownload(
            path: installed, byteCount: part.received, sha256: digest, resumedFrom: part.resumed,
            validators: validators)
        self.part = nil
        end(.response(file.response(head: head, end: end)))
    }

    /// Reports the result, once.
    func end(_ result: TransferResult) {
        if case .over = phase { return }
        phase = .over
        dropTransfers()
        part?.close()
        part = nil
        for timer in timers { timer.cancel() }
        pace.end()
        carrier.ended(self)
        report(.ended(result))
    }
}
