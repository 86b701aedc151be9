public import Errand

/// A transport that answers from a ``Cassette``, or sends the requests and records the exchanges.
///
/// ```swift
/// let cassette = try Cassette("Cassettes/users.har")
/// let transport = CassetteTransport(cassette, configuration: configuration)
/// let client = Client(configuration: configuration, transport: transport)
/// // ...
/// await client.shutdown()
/// await transport.stop()
/// try cassette.save()
/// ```
///
/// It keeps the rules of ``/Errand/Transport``: one end for each submission, streamed bodies within the credit, uploads
/// as they are written. A request whose body the program writes is compared when its body is complete. If only one
/// recorded exchange is left for a streamed request, the request is answered at once, because its upload may depend on
/// the answer. If that answer is a success, the transfer ends when the body is complete, as with the engine. If the
/// body then differs from the recorded one, it is added to ``Cassette/mismatches`` and reported on standard error. A
/// body that is longer than the cassette's `bodyLimit` is compared and answered as soon as more than that is written; the
/// rest is dropped. If such a request would have to be sent, it fails with ``/Errand/ErrandError/unexpectedRequest``. A
/// body that comes from a file is read on the thread that submits the request. Any thread.
public final class CassetteTransport: Transport {
    /// The cassette.
    public let cassette: Cassette
    private let table: TransferTable
    private let recorder: HARTransport?
    private let replaysTime: Bool
    private let shiftsDates: Bool

    /// Makes a transport. It has its own engine if the cassette may record.
    ///
    /// - Parameters:
    ///   - cassette: The recorded traffic.
    ///   - configuration: The client's configuration: its engine settings, and the clock of timeouts and of recorded
    ///     waits.
    ///   - replaysTime: Whether a replayed exchange takes as long as the recorded one. Default: no, it is answered at once.
    ///   - shiftsDates: Whether `Date`, `Expires`, `Last-Modified` and a date in `Retry-After` are moved, to be as far
    ///     from the present as when they were recorded, so that a cache behaves the same. Default: yes.
    public convenience init(
        _ cassette: Cassette, configuration: Client.Configuration = Client.Configuration(), replaysTime: Bool = false,
        shiftsDates: Bool = true
    ) {
        self.init(
            cassette, base: cassette.mayRecord ? configuration.makeEngine() : nil, clock: configuration.clock,
            replaysTime: replaysTime, shiftsDates: shiftsDates)
    }

    /// Makes a transport over another one. That one sends the requests that are recorded, and is shut down with this one.
    ///
    /// - Parameters:
    ///   - cassette: The recorded traffic.
    ///   - base: The transport beneath.
    ///   - clock: The clock of timeouts and of recorded waits. Default: the continuous clock.
    ///   - replaysTime: Whether a replayed exchange takes as long as the recorded one. Default: no.
    ///   - shiftsDates: As in the other initializer. Default: yes.
    public convenience init(
        _ cassette: Cassette, over base: any Transport, clock: any Clock<Duration> = ContinuousClock(),
        replaysTime: Bool = false, shiftsDates: Bool = true
    ) {
        self.init(cassette, base: base, clock: clock, replaysTime: replaysTime, shiftsDates: shiftsDates)
    }

    private init(
        _ cassette: Cassette, base: (any Transport)?, clock: any Clock<Duration>, replaysTime: Bool, shiftsDates: Bool
    ) {
        self.cassette = cassette
        self.replaysTime = replaysTime
        self.shiftsDates = shiftsDates
        let options = HAROptions(
            bodyLimit: cassette.bodyLimit, readsFiles: true, redaction: cassette.redaction,
            bodyRedaction: cassette.bodyRedaction, pseudonyms: cassette.pseudonyms)
        recorder = base.map { base in
            HARTransport(base, options, stopwatch: Stopwatch(clock)) { cassette.record($0) }
        }
        table = TransferTable(over: recorder, "errand.cassette", clock: clock)
    }

    /// Shuts the transport down, and returns when all transfers have ended. The cassette is not saved.
    public func stop() async {
        await withCheckedContinuation { continuation in
            shutdown { continuation.resume() }
        }
    }

    // MARK: Transport

    /// Replays the matching exchange, or sends the request.
    public func submit(
        _ description: RequestDescription, for receiver: TransferReceiver
    ) throws(ErrandError) -> TransferID {
        if cassette.recordsAll { return try table.pass(description) { _ in receiver } }
        guard !description.isWritten else {
            let (id, transfer) = try table.play(description, for: receiver, uploadLimit: cassette.bodyLimit)
            // Without an early answer, the request is compared when its body is complete.
            guard let early = cassette.earlyAnswer(to: description) else {
                transfer.awaitScript { [cassette] error in
                    cassette.uploadEnded(cassette.compared(description, body: []), by: error)
                }
                return id
            }
            let played = script(early.entry, for: description)
            guard early.isCompared else {
                transfer.play(played)
                return id
            }
            transfer.play(played) { [cassette] body, isCut in
                cassette.compare(body, isCut: isCut, of: description, with: early)
            }
            return id
        }
        let body = description.readBody(atMost: cassette.bodyLimit)
        switch cassette.answer(to: cassette.compared(description, body: body)) {
        case .record:
            return try table.pass(description) { _ in receiver }
        case .replay(let entry):
            let (id, transfer) = try table.play(description, for: receiver, uploadLimit: cassette.bodyLimit)
            transfer.play(script(entry, for: description))
            return id
        case .mismatch(let mismatch):
            let (id, transfer) = try table.play(description, for: receiver, uploadLimit: cassette.bodyLimit)
            transfer.play(TransferScript(Self.error(mismatch)))
            return id
        }
    }

    private func script(_ entry: HAR.Entry, for description: RequestDescription) -> TransferScript {
        TransferScript(entry, isTimed: replaysTime, now: shiftsDates ? HARTime.now() : nil, for: description)
    }

    private static func error(_ mismatch: CassetteMismatch) -> ErrandError {
        .unexpectedRequest.with(message: mismatch.description, underlying: mismatch, isRefusal: true)
    }

    /// Answers an upload whose body is complete.
    private func answer(_ transfer: PlayedTransfer, _ body: [UInt8]) {
        if transfer.check(body, isCut: false) { return }
        guard transfer.isWaiting else { return }
        let description = transfer.description
        switch cassette.answer(to: cassette.compared(description, body: body)) {
        case .record: send(transfer, body)
        case .replay(let entry):
            transfer.play(script(entry, for: description))
        case .mismatch(let mismatch): transfer.play(TransferScript(Self.error(mismatch)))
        }
    }

    /// Answers an upload whose body is longer than the part that is kept.
    private func answerEarly(_ transfer: PlayedTransfer, _ beginning: [UInt8]) {
        if transfer.check(beginning, isCut: true) { return }
        guard transfer.isWaiting else { return }
        let description = transfer.description
        let sent = cassette.compared(description, body: beginning, isCut: true)
        switch cassette.answer(to: sent) {
        case .replay(let entry): transfer.play(script(entry, for: description))
        case .mismatch(let mismatch): transfer.play(TransferScript(Self.error(mismatch)))
        case .record:
            let error = ErrandError.unexpectedRequest.with(
                message:
                    "\(sent.method) \(sent.url) is not on the cassette '\(cassette.path)', and its upload of more than "
                    + "\(cassette.bodyLimit) bytes is too long to be compared first and sent then; raise bodyLimit, or record "
                    + "in the mode all",
                isRefusal: true)
            transfer.play(TransferScript(error))
        }
    }

    /// Sends an upload whose body was collected to be compared. The response is delivered when it is complete.
    private func send(_ transfer: PlayedTransfer, _ body: [UInt8]) {
        guard let recorder else { return transfer.play(TransferScript(.internalFailure)) }
        transfer.liftTimeouts()
        var description = transfer.description
        description.body = .bytes(body)
        description.delivery = .buffered
        description.reports = []
        let receiver = EndReceiver { result in
            switch result {
            case .response(let response): transfer.play(TransferScript(response, for: transfer.description))
            case .failure(let error): transfer.play(TransferScript(error))
            }
        }
        do throws(ErrandError) {
            let id = try recorder.submit(description, for: receiver)
            transfer.run {
                // The task is cancelled when the transfer ends, by its result or by its receiver.
                await withTaskCancellationHandler {
                    try? await Task.sleep(for: Duration.longestSleep)
                } onCancel: {
                    recorder.cancel(id)
                }
            }
        } catch {
            transfer.play(TransferScript(error))
        }
    }

    /// Ends a transfer with ``/Errand/ErrandError/cancelled``.
    public func cancel(_ id: TransferID) { table.cancel(id) }
    /// Stops reports until ``resume(_:)``.
    public func pause(_ id: TransferID) { table.pause(id) }
    /// Continues after ``pause(_:)``.
    public func resume(_ id: TransferID) { table.resume(id) }
    /// Grants credit for more bytes of a streamed body.
    public func grant(_ id: TransferID, bytes: Int) { table.grant(id, bytes: bytes) }
    /// Takes bytes of an upload.
    public func write(_ bytes: UnsafeRawBufferPointer, to id: TransferID) {
        table.write(bytes, to: id) { self.answerEarly($0, $1) }
    }
    /// Takes bytes of an upload.
    public func write(shared bytes: SharedBytes, to id: TransferID) { bytes.withUnsafeBytes { write($0, to: id) } }
    /// The upload is complete, and is compared now.
    public func finishUpload(_ id: TransferID) { table.finishUpload(id) { self.answer($0, $1) } }
    /// Ends a transfer with ``/Errand/ErrandError/uploadFailed``.
    public func failUpload(_ id: TransferID) {
        table.failUpload(id) {
            cassette.uploadEnded(cassette.compared($0.description, body: []), by: .uploadFailed)
        }
    }
    /// Forgets what was written so far.
    public func restartUpload(_ id: TransferID, after attempt: Int) { table.restartUpload(id, after: attempt) }
    /// Passed on.
    public func filesMayHaveChanged() { recorder?.filesMayHaveChanged() }
    /// Ends all transfers, and shuts the transport beneath down.
    public func shutdown(_ stopped: @escaping @Sendable () -> Void) { table.shutdown(stopped) }
}

/// Gets the end of a transfer.
///
/// `@unchecked Sendable`: what this class adds is constant and itself safe to share.
private final class EndReceiver: TransferReceiver, @unchecked Sendable {
    private let onEnd: @Sendable (TransferResult) -> Void

    init(onEnd: @escaping @Sendable (TransferResult) -> Void) {
        self.onEnd = onEnd
        super.init(callbacks: .inline())
    }

    override func receive(_ event: TransferEvent.Kind) {
        if case .ended(let result) = event { onEnd(result) }
    }
}
