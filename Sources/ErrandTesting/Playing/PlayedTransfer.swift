import Dispatch
import Errand
import Synchronization

/// A transfer that a test transport answers by itself. It plays a script to the receiver, as far as the credit allows,
/// on a clock. Reports come from one serial queue, so that none overtakes another. Any thread.
final class PlayedTransfer: Sendable {
    /// The objects that all transfers of a transport share.
    struct Stage: Sendable {
        let queue: DispatchQueue
        let stopwatch: Stopwatch
    }

    /// The part of the request's body that was written so far.
    private struct Upload {
        var bytes: [UInt8] = []
        /// Whether more was written than is kept.
        var isCut = false
        var isOver = false
    }

    let description: RequestDescription
    private let receiver: TransferReceiver
    private let stage: Stage
    private let machine = Mutex(PlayedTransferMachine())
    private let upload = Mutex(Upload())
    /// The tasks of the transfer, which are cancelled at its end.
    private let tasks = Mutex(Tasks())
    /// Checks the upload of a transfer that is answered before its upload is complete.
    private let uploadCheck = Mutex<Check?>(nil)

    /// Gets an upload; `isCut`: only its beginning.
    typealias Check = @Sendable (_ bytes: [UInt8], _ isCut: Bool) -> Void

    private struct Tasks: Sendable {
        /// Runs the handler of a route, or waits for another transfer.
        var work: Task<Void, Never>?
        /// The sleep before the next step. Earlier sleeps are over.
        var sleep: Task<Void, Never>?
    }

    private let onEnd: @Sendable () -> Void
    /// The most bytes of an upload that are kept.
    private let uploadLimit: Int
    /// When the transfer was submitted.
    private let started: Duration

    /// `onEnd`: called after the last report was delivered, on the receiver's queue.
    init(
        _ description: RequestDescription, for receiver: TransferReceiver, on stage: Stage, uploadLimit: Int,
        onEnd: @escaping @Sendable () -> Void
    ) {
        self.uploadLimit = min(max(0, uploadLimit), .max - 1)
        self.description = description
        self.receiver = receiver
        self.stage = stage
        self.onEnd = onEnd
        started = stage.stopwatch.now()
    }

    // MARK: The transport

    /// Whether nothing is played yet.
    var isWaiting: Bool { machine.withLock { $0.isWaiting } }

    /// Starts the script, limited by the request's timeouts. Ignored if a script is already playing, or if the transfer
    /// has ended.
    func play(_ script: TransferScript) {
        let now = stage.stopwatch.now()
        let script = script.limited(by: description.settings.timeouts, elapsed: now - started)
        machine.withLock { $0.play(script, now: now) }
        step()
    }

    /// The same, but the end of the script waits until ``check(_:isCut:)`` has called `check`, or until the request's
    /// time is up.
    func play(_ script: TransferScript, checkingUpload check: @escaping Check) {
        uploadCheck.withLock { $0 = check }
        let limit = description.settings.timeouts.total?.duration.map { started + $0 }
        machine.withLock { $0.holdEnd(until: limit) }
        play(script)
    }

    /// Passes the upload to its check; `false`: there is none.
    func check(_ bytes: [UInt8], isCut: Bool) -> Bool {
        let check = uploadCheck.withLock { check -> Check? in
            defer { check = nil }
            return check
        }
        guard let check else { return false }
        check(bytes, isCut)
        machine.withLock { $0.releaseEnd() }
        step()
        return true
    }

    /// Runs `work`, whose task is cancelled when the transfer ends. Called once.
    func run(_ work: @escaping @Sendable () async -> Void) {
        let task = Task { await work() }
        tasks.withLock { $0.work = task }
        if machine.withLock({ $0.hasEnded }) { endTasks() }
    }

    // MARK: Orders of the receiver

    func cancel() { end(with: .cancelled) }

    private func end(with error: ErrandError) {
        machine.withLock { $0.end(with: error) }
        step()
    }

    func setPaused(_ isPaused: Bool) {
        machine.withLock { $0.setPaused(isPaused) }
        if !isPaused { step() }
    }

    func grant(_ bytes: Int) {
        machine.withLock { $0.grant(bytes) }
        step()
    }

    /// Takes bytes of the upload. Returns its beginning once, when more was written than is kept. The rest is accepted
    /// and dropped.
    func write(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        guard !bytes.isEmpty else { return nil }
        let (isTaken, beginning) = upload.withLock { upload -> (Bool, [UInt8]?) in
            guard !upload.isOver else { return (false, nil) }
            guard !upload.isCut else { return (true, nil) }
            upload.bytes.append(contentsOf: bytes.prefix(uploadLimit - upload.bytes.count + 1))
            guard upload.bytes.count > uploadLimit else { return (true, nil) }
            upload.isCut = true
            upload.bytes.removeLast()
            defer { upload.bytes = [] }
            return (true, upload.bytes)
        }
        guard isTaken else { return nil }
        machine.withLock { $0.took(bytes.count) }
        step()
        return beginning
    }

    /// The upload is over. Returns its bytes, once; `nil` also if its beginning was returned before.
    func finishUpload() -> [UInt8]? {
        upload.withLock { upload in
            guard !upload.isOver else { return nil }
            upload.isOver = true
            return upload.isCut ? nil : upload.bytes
        }
    }

    func failUpload() {
        upload.withLock { $0.isOver = true }
        end(with: .uploadFailed)
    }

    func restartUpload() {
        upload.withLock { upload in
            if !upload.isOver, !upload.isCut { upload.bytes = [] }
        }
    }

    // MARK: Steps

    private func step() {
        stage.queue.async { self.advance() }
    }

    /// On the stage's queue.
    private func advance() {
        while true {
            switch machine.withLock({ $0.next(now: stage.stopwatch.now()) }) {
            case .none:
                return
            case .deliver(let event):
                deliver(event)
            case .sleep(let due):
                return sleep(until: due)
            case .end(let result):
                endTasks()
                deliver(.ended(result))
                // The receiver may have its own queue, on which the end still waits.
                return receiver.callbacks.async(onEnd)
            }
        }
    }

    private func deliver(_ event: TransferEvent.Kind) {
        TransferReceiver.deliver(CollectionOfOne(TransferEvent(receiver, event)))
    }

    private func sleep(until due: Duration) {
        let task = Task { [self] in
            let left = min(max(due - stage.stopwatch.now(), .zero), .longestSleep)
            // The task is cancelled only when the transfer has ended.
            try? await stage.stopwatch.sleep(for: left)
            step()
        }
        tasks.withLock { $0.sleep = task }
        if machine.withLock({ $0.hasEnded }) { endTasks() }
    }

    private func endTasks() {
        let ended = tasks.withLock { tasks in
            let ended = tasks
            tasks = Tasks()
            return ended
        }
        ended.work?.cancel()
        ended.sleep?.cancel()
    }
}
