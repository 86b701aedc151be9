import Dispatch
public import Errand
public import HTTPTypes
import Synchronization

/// A transport that answers from a script, without sockets or engine threads. It keeps the rules of
/// ``/Errand/Transport``.
///
/// ```swift
/// let stub = StubTransport { description in .response(status: 200, body: "{}") }
/// let client = Client(transport: stub)
/// ```
public final class StubTransport: Transport {
    /// The result of a submitted transfer.
    public enum Answer: Sendable {
        /// A whole response.
        case response(Response)
        /// A failure.
        case failure(ErrandError)
        /// No result yet: the transfer waits for ``complete(_:with:)``, a cancellation or a shutdown.
        case hold
        /// The submission is refused with this error.
        case refuse(ErrandError)

        /// Makes a response from its parts.
        public static func response(status: Int, headers: HTTPFields = HTTPFields(), body: String = "") -> Answer {
            .response(Response(statusCode: status, headers: headers, body: Array(body.utf8)))
        }
    }

    /// When the transport delivers answers that are available immediately.
    public enum Delivery: Sendable {
        /// From another thread, in batches, as the engine does.
        case asynchronous
        /// Before `submit` returns, which is the earliest time that a transport may deliver.
        case immediate
    }

    /// The data that a receiver has written to a streamed upload.
    public struct Upload: Sendable, Equatable {
        /// Whether more data may follow.
        public enum Ending: Sendable {
            /// More data may follow.
            case open
            /// ``/Errand/Transport/finishUpload(_:)`` was called.
            case finished
            /// ``/Errand/Transport/failUpload(_:)`` was called.
            case failed
        }

        /// All bytes written so far, in order.
        public var bytes: [UInt8] = []
        /// Whether more data may follow.
        public var ending = Ending.open

        /// Makes an upload to compare with.
        public init(bytes: [UInt8] = [], ending: Ending = .open) {
            self.bytes = bytes
            self.ending = ending
        }
    }

    private struct Held: Sendable {
        let receiver: TransferReceiver
        let description: RequestDescription
        var isPaused = false
    }

    private enum Phase {
        case open
        case shutDown
    }

    private struct State {
        var phase = Phase.open
        var lastID: UInt64 = 0
        var held: [TransferID: Held] = [:]
        var submitted: [RequestDescription] = []
        var ready: [TransferEvent] = []
        var cancelled: [TransferID] = []
        var granted: [TransferID: Int] = [:]
        var uploads: [TransferID: Upload] = [:]
    }

    private let state = Mutex(State())
    private let delivery: Delivery
    private let queue = DispatchQueue(label: "errand.stub")
    private let answer: @Sendable (RequestDescription) -> Answer

    /// Makes a transport that calls `answer` for every submission.
    public init(delivery: Delivery = .asynchronous, _ answer: @escaping @Sendable (RequestDescription) -> Answer) {
        self.delivery = delivery
        self.answer = answer
    }

    /// Makes a transport that holds every submission.
    public convenience init() {
        self.init { _ in .hold }
    }

    /// The accepted submissions, in order.
    public var submitted: [RequestDescription] { state.withLock { $0.submitted } }

    /// The transfers that have not ended, oldest first.
    public var open: [TransferID] { state.withLock { $0.held.keys.sorted { $0.rawValue < $1.rawValue } } }

    /// The transfers for which a cancellation was requested, in order, whether they were open or not.
    public var cancelled: [TransferID] { state.withLock { $0.cancelled } }

    /// Whether a held transfer is paused.
    public func isPaused(_ id: TransferID) -> Bool { state.withLock { $0.held[id]?.isPaused ?? false } }

    /// Ends a held transfer with `result`. Returns false if the transfer is not held.
    @discardableResult
    public func complete(_ id: TransferID, with result: TransferResult) -> Bool {
        guard let held = state.withLock({ $0.held.removeValue(forKey: id) }) else { return false }
        deliver([TransferEvent(held.receiver, .ended(result))])
        return true
    }

    /// Sends an event before the end of a held transfer to its receiver: a head, a chunk, upload credit, progress.
    /// Returns false if the transfer is not held, or if the event is an end; use ``complete(_:with:)`` for ends.
    @discardableResult
    public func send(_ event: TransferEvent.Kind, to id: TransferID) -> Bool {
        if case .ended = event { return false }
        guard let held = state.withLock({ $0.held[id] }) else { return false }
        deliver([TransferEvent(held.receiver, event)])
        return true
    }

    /// The total credit, in bytes of the response's body, that the receiver has granted.
    public func granted(to id: TransferID) -> Int { state.withLock { $0.granted[id] ?? 0 } }

    /// The data that was written so far to a streamed upload.
    public func upload(of id: TransferID) -> Upload { state.withLock { $0.uploads[id] ?? Upload() } }

    /// Ends all held transfers in one batch.
    public func completeAll(_ result: (RequestDescription) -> TransferResult) {
        let held = state.withLock { state in
            let held = state.held.sorted { $0.key.rawValue < $1.key.rawValue }.map(\.value)
            state.held = [:]
            return held
        }
        deliver(held.map { TransferEvent($0.receiver, .ended(result($0.description))) })
    }

    // MARK: Transport

    /// Accepts the submission unless the script refuses it.
    public func submit(
        _ description: RequestDescription, for receiver: TransferReceiver
    ) throws(ErrandError) -> TransferID {
        let answer = answer(description)
        if case .refuse(let error) = answer { throw error }
        let id = state.withLock { state -> TransferID? in
            guard state.phase == .open else { return nil }
            state.lastID += 1
            state.submitted.append(description)
            let id = TransferID(rawValue: state.lastID)
            state.held[id] = Held(receiver: receiver, description: description)
            return id
        }
        guard let id else { throw ErrandError.shutDown }
        switch answer {
        case .response(let response): complete(id, with: .response(response))
        case .failure(let error): complete(id, with: .failure(error))
        case .hold, .refuse: break
        }
        return id
    }

    /// Ends a held transfer with ``/Errand/ErrandError/cancelled``.
    public func cancel(_ id: TransferID) {
        // Under one lock: a reader that sees the cancellation must not find the transfer open.
        let held = state.withLock { state in
            state.cancelled.append(id)
            return state.held.removeValue(forKey: id)
        }
        if let held { deliver([TransferEvent(held.receiver, .ended(.failure(.cancelled)))]) }
    }

    /// Records the pause.
    public func pause(_ id: TransferID) { state.withLock { $0.held[id]?.isPaused = true } }

    /// Records that the transfer is no longer paused.
    public func resume(_ id: TransferID) { state.withLock { $0.held[id]?.isPaused = false } }

    /// Ends all held transfers, then calls `stopped`.
    public func shutdown(_ stopped: @escaping @Sendable () -> Void) {
        state.withLock { $0.phase = .shutDown }
        completeAll { _ in .failure(.cancelled) }
        queue.async { stopped() }
    }

    /// Records the credit.
    public func grant(_ id: TransferID, bytes: Int) { state.withLock { $0.granted[id, default: 0] += bytes } }

    /// Records the bytes if the transfer is open.
    public func write(_ bytes: UnsafeRawBufferPointer, to id: TransferID) {
        state.withLock { state in
            if state.held[id] != nil { state.uploads[id, default: Upload()].bytes += bytes }
        }
    }

    /// Records the bytes if the transfer is open.
    public func write(shared bytes: SharedBytes, to id: TransferID) { bytes.withUnsafeBytes { write($0, to: id) } }

    /// Records the end of the upload.
    public func finishUpload(_ id: TransferID) {
        state.withLock { $0.uploads[id, default: Upload()].ending = .finished }
    }

    /// Ends a held transfer with ``/Errand/ErrandError/uploadFailed``.
    public func failUpload(_ id: TransferID) {
        state.withLock { $0.uploads[id, default: Upload()].ending = .failed }
        complete(id, with: .failure(.uploadFailed))
    }

    /// Forgets the bytes that were written so far. The stub itself never resends anything.
    public func restartUpload(_ id: TransferID, after attempt: Int) {
        state.withLock { $0.uploads[id] = nil }
    }

    /// Returns when all events so far have been delivered to their receivers.
    package func delivered() async {
        guard delivery == .asynchronous else { return }
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume() }
        }
    }

    private func deliver(_ events: [TransferEvent]) {
        guard delivery == .asynchronous else { return TransferReceiver.deliver(events) }
        let wasEmpty = state.withLock { state in
            defer { state.ready += events }
            return state.ready.isEmpty
        }
        guard wasEmpty else { return }
        queue.async { [self] in
            let ready = state.withLock { state in
                defer { state.ready = [] }
                return state.ready
            }
            TransferReceiver.deliver(ready)
        }
    }

    /// No effect: the stub reads no files.
    public func filesMayHaveChanged() {}
}

extension StubTransport: ShortIDTransport {
    /// The ids are counted from 1.
    package var idsAreShort: Bool { true }
}
