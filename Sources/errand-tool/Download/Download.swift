import CErrand
import Dispatch
import Errand
import HTTPTypes

/// One GET whose body goes to a file while it comes.
///
/// `@unchecked Sendable`: everything mutable is touched on `queue` alone, a serial queue; writing to a file blocks, so
/// it happens there and not on the loop thread, and bytes that are not written yet hold back the sender by credit.
final class Download: @unchecked Sendable {
    /// Bytes that may wait to be written.
    static let credit: UInt64 = 1 << 20
    /// The core's own largest limit: what fits on any disk.
    static let bodyLimit = 1 << 50
    /// A redirecting or failed response's body is read up to here, to keep the connection, and beyond it cancelled.
    private static let discardLimit: UInt64 = 65_536

    private let queue = DispatchQueue(label: "errand.download")
    private let first: RequestDescription
    private let path: String
    private let settings: FetchSettings
    private let engine: DownloadEngine
    private let progress: FetchProgress
    private var state = State.idle
    private var result: FetchResult
    /// What the hop under way sends.
    private var sent: RequestDescription
    private var remoteAddress: String?
    private var done: CheckedContinuation<FetchResult, Never>?
    /// The hop that is under way; 0 before the first.
    private var transfer: UInt64 = 0
    /// When `--timeout` is over, all hops together.
    private let deadline: UInt64?

    private enum State {
        case idle
        /// A hop is under way, its head has not come.
        case waiting
        case writing(FileBox)
        /// The body is of no interest; then `next`, or the end.
        case discarding(bytes: UInt64, next: RequestDescription?)
        case finished
    }

    /// An enum cannot hold the non-copyable file itself and be copied.
    private final class FileBox {
        var file: OutputFile
        init(_ path: String) throws(OutputFile.Failure) { file = try OutputFile(path) }
    }

    /// `description` is what a client makes of the job's URL.
    init(
        _ job: FetchJob, _ description: RequestDescription, path: String, _ settings: FetchSettings,
        engine: DownloadEngine,
        progress: FetchProgress
    ) {
        first = description
        sent = description
        self.path = path
        self.settings = settings
        self.engine = engine
        self.progress = progress
        result = FetchResult(url: job.url)
        deadline = settings.timeouts.total.map { MonotonicTime.now + $0.nanoseconds }
    }

    func run() async -> FetchResult {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.async { [self] in
                    done = continuation
                    send(first)
                }
            }
        } onCancel: {
            queue.async { [self] in cancel() }
        }
    }

    private func cancel() {
        switch state {
        case .waiting, .writing, .discarding:
            result.failure = .init(name: "cancelled", message: "cancelled", exit: .interrupted)
            state = .discarding(bytes: 0, next: nil)
            engine.cancel(transfer)
        case .idle:
            // Cancelled before it was run: `send` will not send.
            state = .finished
        case .finished: break
        }
    }

    /// On the loop thread: hands the record to its download's queue.
    static func take(_ record: errand_record) {
        guard let pointer = UnsafeRawPointer(bitPattern: UInt(record.tag)) else { return }
        let unmanaged = Unmanaged<Download>.fromOpaque(pointer)
        let isLast = record.kind == Int32(errand_record_kind.completion.rawValue)
        let download = isLast ? unmanaged.takeRetainedValue() : unmanaged.takeUnretainedValue()
        // The record is a copy, and its payload the receiver's from here on: no other thread has either.
        nonisolated(unsafe) let record = record
        download.queue.async {
            download.handle(record)
            errand_payload_free(record.payload)
        }
    }

    private func send(_ description: RequestDescription) {
        if case .finished = state {
            return end(.init(name: "cancelled", message: "cancelled", exit: .interrupted))
        }
        state = .waiting
        let now = MonotonicTime.now
        if let deadline, deadline <= now { return end(FetchResult.Failure(.timeoutTotal, words: nil)) }
        sent = description
        let (status, id) = engine.submit(self, description, total: deadline.map { .nanoseconds($0 - now) })
        transfer = id
        if status != .ok { end(FetchResult.Failure(status, words: nil)) }
    }

    private func handle(_ record: errand_record) {
        switch errand_record_kind(rawValue: UInt32(bitPattern: record.kind)) {
        case .head: headCame(record)
        case .chunk: chunkCame(record)
        case .completion: hopEnded(record)
        case .uploadCredit, .started, .sent, .progress, nil: break
        }
    }

    private func headCame(_ record: errand_record) {
        let head = record.bytes(errand_payload_head)
        result.head = Array(head)
        result.headers = HTTPFields(head: head)
        remoteAddress = record.text(errand_payload_remote_address)
        result.status = Int(record.http_status)
        if settings.followsRedirects, RedirectRules.isRedirect(result.status) {
            let decision = RedirectRules.decide(
                Response(statusCode: result.status, headers: result.headers), to: sent, hops: result.redirects,
                policy: .follow(limit: settings.maxRedirects), connection: settings.connection)
            switch decision {
            case .take: break
            case .follow(let next):
                state = .discarding(bytes: 0, next: next)
                return
            case .fail(let error):
                result.failure = FetchResult.Failure(error)
                state = .discarding(bytes: 0, next: nil)
                return
            }
        }
        if settings.failsOnStatus, result.status >= 400 {
            result.failure = .status(result.status)
            state = .discarding(bytes: 0, next: nil)
            return
        }
        do {
            state = .writing(try FileBox(path))
            progress.began(length: result.headers[.contentLength].flatMap(UInt64.init))
        } catch {
            outputFailed(error, record.id)
        }
    }

    private func chunkCame(_ record: errand_record) {
        let bytes = record.bytes(errand_payload_body)
        switch state {
        case .writing(let box):
            do {
                try box.file.write(bytes)
            } catch {
                outputFailed(error, record.id)
                return
            }
            progress.received(UInt64(bytes.count))
            engine.grant(record.id, UInt64(bytes.count))
        case .discarding(let discarded, let next):
            let total = discarded + UInt64(bytes.count)
            state = .discarding(bytes: total, next: next)
            if total > Download.discardLimit {
                engine.cancel(record.id)
            } else {
                engine.grant(record.id, UInt64(bytes.count))
            }
        case .idle, .waiting, .finished: break
        }
    }

    private func outputFailed(_ failure: OutputFile.Failure, _ id: UInt64) {
        result.failure = .output(path, failure.reason)
        state = .discarding(bytes: 0, next: nil)
        engine.cancel(id)
    }

    private func hopEnded(_ record: errand_record) {
        result.metrics = record.metrics
        // The payload that tells it is the head's.
        result.metrics.remoteAddress = result.metrics.remoteAddress ?? remoteAddress
        let ended = record.ended
        switch state {
        case .discarding(_, let next?) where ended.leavesRedirect:
            result.redirects += 1
            result.finalURL = next.url
            return send(next)
        case .discarding where result.failure != nil:
            return end(nil)
        case .writing(let box) where ended == .ok:
            do {
                try box.file.finish()
                result.body = .file(path: path, bytes: box.file.written)
                return end(nil)
            } catch {
                return end(.output(path, error.reason))
            }
        case .idle, .waiting, .writing, .discarding, .finished: break
        }
        var failure = FetchResult.Failure(ended, words: record.text(errand_payload_error_text))
        failure.curlCode = record.curl_code == 0 ? nil : Int(record.curl_code)
        failure.systemErrorCode = record.os_error == 0 ? nil : Int(record.os_error)
        end(failure)
    }

    private func end(_ failure: FetchResult.Failure?) {
        if let failure { result.failure = failure }
        state = .finished
        progress.ended()
        done?.resume(returning: result)
        done = nil
    }
}

extension errand_status {
    /// Whether a redirect is followed whose transfer ended so: its head has decided, and nobody reads its body.
    fileprivate var leavesRedirect: Bool {
        switch self {
        case .ok, .cancelled, .decodingFailed, .partialBody, .sendFailed, .receiveFailed, .connectionLost,
            .malformedResponse, .protocolError, .limitBodyBytes, .limitDecodedBytes, .timeoutIdle:
            true
        default: false
        }
    }
}

extension FetchResult.Failure {
    init(_ status: errand_status, words: String?) {
        let error = ToolError(status, words: words)
        self.init(name: status.label, message: error.message, exit: error.status)
    }
}
