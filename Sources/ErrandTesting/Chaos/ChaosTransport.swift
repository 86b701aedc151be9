public import Errand
import HTTPTypes
import Synchronization

/// Makes the answers of another transport late, broken or missing, by a plan and a seed.
///
/// ```swift
/// let plan = ChaosPlan(latency: .logNormal(median: .milliseconds(20), p99: .seconds(1)), errorShare: 0.1)
/// let chaos = ChaosTransport(over: router, plan, seed: 7)
/// let client = Client(configuration: configuration, transport: chaos)
/// ```
///
/// The fate of a request depends on the seed, on its method and URL, and on how often this request came before.
/// Therefore the fate is the same in each run, whatever the order of concurrent requests, and a retry has a fate of its
/// own. With a ``ManualClock`` the times are exact as well.
///
/// It keeps the rules of ``/Errand/Transport``. Any thread.
public final class ChaosTransport: Transport {
    /// One decision.
    public struct Decision: Sendable, CustomStringConvertible {
        /// The method and the URL, without its secrets.
        public let request: String
        /// How often this request has come, from 1.
        public let occurrence: Int
        /// What was decided.
        public let fate: ChaosFate
        /// The time for which the answer is held back.
        public let latency: Duration

        /// `GET http://test/ (2): stalled`.
        public var description: String { "\(request) (\(occurrence)): \(fate), \(latency)" }
    }

    private struct State {
        /// How often each request has come, by its hash.
        var occurrences: [UInt64: Int] = [:]
        var decisions: [Decision] = []

        /// How often the request has come, this time included. Beyond the limit, different requests share a count, so
        /// that a retry still has a fate of its own.
        mutating func count(_ hash: UInt64) -> Int {
            let isKnown = occurrences[hash] != nil || occurrences.count < ChaosTransport.mostRequests
            let count = occurrences[isKnown ? hash : hash % 1024, default: 0] + 1
            occurrences[isKnown ? hash : hash % 1024] = count
            return count
        }
    }

    /// The largest number of requests that are distinguished.
    private static let mostRequests = 100_000

    private let state = Mutex(State())
    private let base: any Transport
    private let plan: ChaosPlan
    private let seed: UInt64
    private let decisionLimit: Int
    private let table: TransferTable

    /// Makes a transport over another one, which is shut down with this one.
    ///
    /// - Parameters:
    ///   - base: The transport beneath, such as a ``StubRouter``.
    ///   - plan: The faults to cause.
    ///   - seed: Decides the fates. Print it, to repeat a run.
    ///   - clock: The clock of latencies and stalls. Default: the continuous clock.
    ///   - decisionLimit: The most decisions that ``decisions`` keeps. Default: 10,000.
    public init(
        over base: any Transport, _ plan: ChaosPlan, seed: UInt64, clock: any Clock<Duration> = ContinuousClock(),
        decisionLimit: Int = 10_000
    ) {
        self.decisionLimit = max(0, decisionLimit)
        self.base = base
        self.plan = plan
        self.seed = seed
        table = TransferTable(over: base, "errand.chaos", clock: clock)
    }

    /// The latest decisions, in the order of the requests, at most as many as the limit.
    public var decisions: [Decision] { state.withLock { Array($0.decisions.suffix(decisionLimit)) } }

    private func decide(_ description: RequestDescription) -> Decision {
        let method = description.method.rawValue
        let hash = Self.hash(seed, "\(method) \(description.url)")
        let shown = "\(method) \(Redaction.standard.url(description.url))"
        return state.withLock { state in
            let occurrence = state.count(hash)
            var dice = SeededGenerator(seed: Self.mix(hash, occurrence))
            let (fate, latency) = plan.draw(&dice)
            let decision = Decision(request: shown, occurrence: occurrence, fate: fate, latency: latency)
            state.decisions.append(decision)
            // Removed in portions, because each removal moves the rest.
            let surplus = state.decisions.count - decisionLimit
            if surplus > min(decisionLimit, 1000) { state.decisions.removeFirst(surplus) }
            return decision
        }
    }

    /// FNV-1a: the same on every platform and in every process, unlike Swift's hashes.
    private static func hash(_ seed: UInt64, _ request: String) -> UInt64 {
        var hash = 0xCBF2_9CE4_8422_2325 ^ seed
        for byte in request.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash
    }

    private static func mix(_ hash: UInt64, _ occurrence: Int) -> UInt64 {
        (hash ^ UInt64(occurrence)) &* 0x100_0000_01B3
    }

    /// Ends all transfers, those of the transport beneath included.
    public func stop() async {
        await withCheckedContinuation { continuation in
            shutdown { continuation.resume() }
        }
    }

    // MARK: Transport

    /// Decides the fate of the request, and passes it on or answers it.
    public func submit(
        _ description: RequestDescription, for receiver: TransferReceiver
    ) throws(ErrandError) -> TransferID {
        let decision = decide(description)
        let script: TransferScript
        switch decision.fate {
        case .passed, .truncated:
            var share: Double?
            if case .truncated(let drawn) = decision.fate { share = drawn }
            if share == nil, decision.latency == .zero { return try table.pass(description) { _ in receiver } }
            return try table.pass(description) { [table] id in
                ChaosReceiver(
                    receiver, truncatedTo: share, after: decision.latency,
                    limit: TransferScript.Limit.first(of: description.settings.timeouts), by: table.stopwatch,
                    cancelBeneath: { table.cancel(id) }, onEnd: { table.close(id) })
            }
        case .failed(let error):
            script = TransferScript(error, after: decision.latency)
        case .answered(let status):
            let wait = decision.latency
            script = TransferScript(Response(statusCode: status), after: wait, until: wait, for: description)
        case .stalled:
            script = .silence(for: description)
        }
        let (id, transfer) = try table.play(description, for: receiver, uploadLimit: 0)
        transfer.play(script)
        return id
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
    public func write(_ bytes: UnsafeRawBufferPointer, to id: TransferID) { table.write(bytes, to: id) }
    /// Takes bytes of an upload.
    public func write(shared bytes: SharedBytes, to id: TransferID) { bytes.withUnsafeBytes { write($0, to: id) } }
    /// The upload is complete.
    public func finishUpload(_ id: TransferID) { table.finishUpload(id) { _, _ in } }
    /// Ends a transfer with ``/Errand/ErrandError/uploadFailed``.
    public func failUpload(_ id: TransferID) { table.failUpload(id) }
    /// Passed on.
    public func restartUpload(_ id: TransferID, after attempt: Int) { table.restartUpload(id, after: attempt) }
    /// Passed on.
    public func filesMayHaveChanged() { base.filesMayHaveChanged() }
    /// Ends all transfers, and shuts the transport beneath down.
    public func shutdown(_ stopped: @escaping @Sendable () -> Void) { table.shutdown(stopped) }
}
