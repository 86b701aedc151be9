import FoundationEssentials
import Synchronization

/// Collects what one transfer sends and receives, for its entry. Any thread.
final class HARExchange: Sendable {
    /// The most pieces of a streamed body whose times are kept.
    private static let mostChunks = 10_000

    private struct State {
        var uploaded = HARBytes()
        /// Whether the whole body of the request is known.
        var isUploadOver = true
        var received = HARBytes()
        var head: Response?
        /// When the head arrived, counted from the start.
        var headTime: Duration?
        var chunks: [HAR.Chunk] = []
        var id: TransferID?
        var isOver = false
    }

    private let state = Mutex(State())
    private let description: RequestDescription
    private let options: HAROptions
    private let stopwatch: Stopwatch
    /// When the transfer started, since 1970.
    private let started: Duration
    /// When the transfer started, by the stopwatch.
    private let beginning: Duration

    init(_ description: RequestDescription, _ options: HAROptions, _ stopwatch: Stopwatch, started: Duration) {
        self.description = description
        self.options = options
        self.stopwatch = stopwatch
        self.started = started
        beginning = stopwatch.now()
        var sent = HARBytes()
        switch description.body {
        case .none: return
        case .stream, .source:
            state.withLock { $0.isUploadOver = false }
            return
        case .bytes(let bytes): sent.add(bytes, limit: options.bodyLimit)
        case .data(let data): data.withUnsafeBytes { sent.add($0, limit: options.bodyLimit) }
        case .shared(let bytes): bytes.withUnsafeBytes { sent.add($0, limit: options.bodyLimit) }
        case .file(let path, let offset, let length):
            guard options.readsFiles else { return }
            sent = HARBytes(file: path, offset: offset, length: length, limit: options.bodyLimit)
        }
        state.withLock { [sent] in $0.uploaded = sent }
    }

    // MARK: The id, for the writes of an upload

    /// Notes the transfer's id. Returns false if the transfer has ended already.
    func opened(_ id: TransferID) -> Bool {
        state.withLock { state in
            state.id = id
            return !state.isOver
        }
    }

    /// The transfer has ended. Returns its id, if it was noted.
    func ended() -> TransferID? {
        state.withLock { state in
            state.isOver = true
            return state.id
        }
    }

    /// Bytes of the request's body were written.
    func wrote(_ bytes: UnsafeRawBufferPointer) {
        state.withLock { $0.uploaded.add(bytes, limit: options.bodyLimit) }
    }

    /// The body is written from its beginning again.
    func restarted() {
        state.withLock { state in
            state.uploaded = HARBytes()
            state.isUploadOver = false
        }
    }

    /// The whole body was written.
    func finished() {
        state.withLock { $0.isUploadOver = true }
    }

    // MARK: Events

    /// Takes an event. Returns the entry with the last one.
    func take(_ event: TransferEvent.Kind) -> HAR.Entry? {
        switch event {
        case .head(let response):
            let now = stopwatch.now() - beginning
            state.withLock { state in
                state.head = response
                state.headTime = now
            }
        case .chunk(let response):
            let now = stopwatch.now() - beginning
            state.withLock { state in
                response.body.withBytes { state.received.add($0, limit: options.bodyLimit) }
                guard state.chunks.count < Self.mostChunks else { return }
                state.chunks.append(HAR.Chunk(time: now, size: response.body.count))
            }
        case .retrying:
            // The transport beneath resends the request: another response follows.
            state.withLock { state in
                state.head = nil
                state.headTime = nil
                state.received = HARBytes()
                state.chunks = []
            }
        case .ended(let result): return entry(result, after: stopwatch.now() - beginning)
        case .uploadCredit, .started, .connected, .sent, .progress, .resending, .notResent, .decided: break
        }
        return nil
    }

    private func entry(_ result: TransferResult, after time: Duration) -> HAR.Entry {
        let (uploaded, received, head, headTime, chunks) = state.withLock { state in
            (state.uploaded, state.received, state.head, state.headTime, state.chunks)
        }
        let isUploadOver = state.withLock { $0.isUploadOver }
        var failure: ErrandError?
        if case .failure(let error) = result { failure = error }
        let end = result.response
        var metrics = end?.metrics ?? failure?.metrics ?? TransferMetrics()
        if let known = head?.metrics {
            metrics.remoteAddress = metrics.remoteAddress ?? known.remoteAddress
            metrics.localAddress = metrics.localAddress ?? known.localAddress
            metrics.httpVersion = metrics.httpVersion ?? known.httpVersion
        }
        // A stub measures nothing.
        let isMeasured = metrics.total > .zero
        let version = metrics.httpVersion.map { "HTTP/\($0)" } ?? "unknown"
        let isStreamed = description.delivery == .streamed
        var response: HAR.Received?
        if let shown = isStreamed ? head ?? end : end ?? head, shown.statusCode > 0 {
            var body = received
            if !isStreamed { shown.body.withBytes { body.add($0, limit: options.bodyLimit) } }
            response = HAR.Received(
                shown, body, version: version, trailers: (end ?? shown).trailers,
                wireSize: isMeasured ? Int(clamping: metrics.bytesReceived) : body.count,
                isDecoded: metrics.wasDecoded, options)
        }
        var request = HAR.Sent(
            description, uploaded, version: version,
            wireSize: isMeasured ? Int(clamping: metrics.bytesSent) : uploaded.count, options)
        if !isUploadOver {
            // The upload failed, or was answered early. The rest of it is not known.
            request.body?.isTruncated = true
            request.body?.size = nil
        }
        if let pseudonyms = options.pseudonyms {
            // This happens after the response is made: only then its secrets are known.
            request.apply(pseudonyms)
            response?.apply(pseudonyms)
        }
        return HAR.Entry(
            started: started, request: request, response: response,
            timings: Self.timings(metrics, headTime: headTime, total: time),
            serverAddress: metrics.remoteAddress.map(Self.host),
            connection: metrics.localAddress.map(Self.port),
            failure: failure.map { HAR.Failure($0, hiding: options.redaction, by: options.pseudonyms) }, chunks: chunks)
    }

    /// The timings. If the transport measures nothing, as a stub does, they are the times at which its events came.
    private static func timings(_ metrics: TransferMetrics, headTime: Duration?, total: Duration) -> HAR.Timings {
        guard metrics.total == .zero, metrics.queue == .zero else { return HAR.Timings(metrics) }
        let wait = min(headTime ?? total, total)
        return HAR.Timings(wait: wait, receive: total - wait)
    }

    /// `127.0.0.1:80` without the port, `[::1]:80` as `::1`.
    private static func host(_ address: String) -> String {
        let end = address.lastIndex(of: ":") ?? address.endIndex
        return String(address[..<end].filter { $0 != "[" && $0 != "]" })
    }

    private static func port(_ address: String) -> String {
        address.lastIndex(of: ":").map { String(address[address.index(after: $0)...]) } ?? address
    }
}
