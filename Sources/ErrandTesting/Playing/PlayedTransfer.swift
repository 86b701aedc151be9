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
    private let machine: Mutex<PlayedTransferMachine>
    private let upload = Mutex(Upload())
    /// The tasks of the transfer, which are cancelled at its end.
    private let tasks = Mutex(Tasks())
    /// Checks the upload of a transfer that is answered before its upload is complete.
    private let uploadCheck = Mutex<Check?>(nil)
    /// Called before the end of a transfer that a timeout ends before it has a script.
    private let onTimeout = Mutex<(@Sendable (ErrandError) -> Void)?>(nil)

    /// Gets an upload; `isCut`: only its beginning.
    typealias Check = @Sendable (_ bytes: [UInt8], _ isCut: Bool) -> Void

    private struct Tasks: Sendable {
        /// Runs the handler of a route, or waits for another transfer.
        var work: Task<Void, Never>?
        /// The sleep before the next step, or until a timeout. Earlier sleeps are over or cancelled.
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
        let now = stage.stopwatch.now()
        started = now
        let timeouts = description.settings.timeouts
        machine = Mutex(
            PlayedTransferMachine(
                total: timeouts.total?.duration.map { now + $0 },
                idle: description.isWritten ? timeouts.idle?.duration : nil, now: now))
    }

    // MARK: The transport

    /// Whether nothing is played yet.
    var isWaiting: Bool { machine.withLock { $0.isWaiting } }

    /// The transfer has no script yet: from now on it ends by the request's total timeout, and until its upload is over
    /// by the idle timeout too. Not called if there is a script at once, so that no task is started for nothing.
    /// `onTimeout`: called before such an end is reported.
    func awaitScript(onTimeout: (@Sendable (ErrandError) -> Void)? = nil) {
        self.onTimeout.withLock { $0 = onTimeout }
        step()
    }

    /// Another transport sends the request and applies its timeouts.
    func liftTimeouts() {
        machine.withLock { $0.liftTimeouts() }
        step()
    }

    /// Starts the script, limited by the request's timeouts. Ignored if a script is already playing, or if the transfer
    /// has ended or its time is up.
    func play(_ script: TransferScript) {
        let now = stage.stopwatch.now()
        let script = script.limited(by: description.settings.timeouts, elapsed: now - started)
        machine.withLock { $0.play(script, now: now) }
        step()
    }

    /// The same, but the end of the script waits until ``check(_:isCut:)`` has called `check`, or until the
    /// request's idle timeout or total timeout.
    func play(_ script: TransferScript, checkingUpload check: @escaping Check) {
        uploadCheck.withLock { $0 = check }
        machine.withLock { $0.holdEnd() }
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
        let now = stage.stopwatch.now()
        machine.withLock { $0.setPaused(isPaused, now: now) }
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
        let now = stage.stopwatch.now()
        machine.withLock { $0.took(bytes.count, now: now) }
        step()
        return beginning
    }

    /// The upload is over. Returns its bytes, once; `nil` also if its beginning was returned before.
    func finishUpload() -> [UInt8]? {
        let bytes = upload.withLock { upload -> [UInt8]? in
            guard !upload.isOver else { return nil }
            upload.isOver = true
            return upload.isCut ? nil : upload.bytes
        }
        machine.withLock { $0.uploadIsOver() }
        step()
        return bytes
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
            case .wake:
                replaceSleep(by: nil)
            case .end(let result):
                return finish(result)
            case .timedOut(let error):
                let onTimeout = onTimeout.withLock { $0 }
                onTimeout?(error)
                return finish(.failure(error))
            }
        }
    }

    private func finish(_ result: TransferResult) {
        endTasks()
        deliver(.ended(result))
        // The receiver may have its own queue, on which the end still waits.
        receiver.callbacks.async(onEnd)
    }

    private func deliver(_ event: TransferEvent.Kind) {
        TransferReceiver.deliver(CollectionOfOne(TransferEvent(receiver, event)))
    }

    private func sleep(until due: Duration) {
        let task = Task { [self] in
            let left = min(max(due - stage.stopwatch.now(), .zero), .longestSleep)
            try? await stage.stopwatch.sleep(for: left)
            // The transfer has ended, or another sleep has replaced this one.
            guard !Task.isCancelled else { return }
            machine.withLock { $0.woke(from: due) }
            step()
        }
        replaceSleep(by: task)
        if machine.withLock({ $0.hasEnded }) { endTasks() }
    }

    private func replaceSleep(by task: Task<Void, Never>?) {
        let former = tasks.withLock { tasks in
            defer { tasks.sleep = task }
            return tasks.sleep
        }
        former?.cancel()
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
