import CoreMetrics
import Errand
import Synchronization

/// The values in which the labels of an attempt differ from those of other attempts to the same server. No text is made
/// for it.
struct AttemptKey: ListKey {
    /// 0: no status was received.
    private let status: Int
    /// The error of a failure; empty: the end is no failure, such as a stop. `nil`: there is a response, whose status
    /// decides.
    private let failure: String?
    /// Empty: there is none.
    private let version: String

    private init(status: Int?, failure: String?, version: String?) {
        self.status = status ?? 0
        self.failure = failure
        self.version = version ?? ""
    }

    /// The key of a streamed response whose head has arrived.
    init(head: Response, version: String?) {
        self.init(status: HTTPConventions.status(of: head), failure: nil, version: version)
    }

    /// The key of an attempt that has ended.
    init(_ result: TransferResult, version: String?) {
        switch result {
        case .response(let response):
            self.init(status: HTTPConventions.status(of: response), failure: nil, version: version)
        case .failure(let error):
            let failure = HTTPConventions.errorType(of: result) ?? ""
            self.init(status: HTTPConventions.status(of: error.response), failure: failure, version: version)
        }
    }

    /// The key of an attempt that the engine has not accepted.
    init(refused error: ErrandError) {
        self.init(status: nil, failure: error.shortDescription, version: nil)
    }

    /// The key without the status and the version. An error is `_OTHER`, as the conventions demand for `error.type`.
    var overflow: AttemptKey {
        let isError = failure.map { !$0.isEmpty } ?? (status >= 400)
        return AttemptKey(status: nil, failure: isError ? HTTPConventions.other : nil, version: nil)
    }

    var dimensions: [(String, String)] {
        let status = self.status == 0 ? "" : String(self.status)
        return [
            ("http.response.status_code", status),
            ("error.type", failure ?? HTTPConventions.errorType(ofStatus: self.status) ?? ""),
            ("network.protocol.version", version),
        ]
    }
}

/// The values in which the labels of a request that has ended differ from those of other requests to the same server.
struct RequestKey: ListKey {
    private let outcome: RunOutcome.Kind
    /// Empty: there is none.
    private let errorType: String

    init(_ outcome: RunOutcome) {
        self.outcome = outcome.kind
        errorType = outcome.error?.shortDescription ?? ""
    }

    private init(_ outcome: RunOutcome.Kind, errorType: String) {
        self.outcome = outcome
        self.errorType = errorType
    }

    /// The key without the kind of the error.
    var overflow: RequestKey {
        RequestKey(outcome, errorType: errorType.isEmpty ? "" : HTTPConventions.other)
    }

    var dimensions: [(String, String)] {
        [("errand.request.outcome", outcome.rawValue), ("error.type", errorType)]
    }
}

/// The handles of one label set of attempts. Any thread.
final class AttemptHandles: Sendable {
    private let heldDuration: HeldRecorder
    private let heldRequestSize: HeldRecorder?
    private let heldResponseSize: HeldRecorder?
    /// Whether the histograms are destroyed with this object; otherwise a backend keeps what they have recorded.
    private let isDestroyed = Atomic<Bool>(false)

    init(_ dimensions: [(String, String)], _ maker: MetricMaker) {
        let sizes = maker.options.recordsBodySizes
        heldDuration = maker.heldRecorder(MetricName.duration, dimensions)
        heldRequestSize = sizes ? maker.heldRecorder(MetricName.requestBodySize, dimensions) : nil
        heldResponseSize = sizes ? maker.heldRecorder(MetricName.responseBodySize, dimensions) : nil
    }

    deinit {
        let destroys = isDestroyed.load(ordering: .relaxed)
        heldDuration.close(destroys: destroys)
        heldRequestSize?.close(destroys: destroys)
        heldResponseSize?.close(destroys: destroys)
    }

    var duration: Recorder { heldDuration.recorder }
    /// `nil`: not recorded.
    var requestSize: Recorder? { heldRequestSize?.recorder }
    var responseSize: Recorder? { heldResponseSize?.recorder }

    /// The series is given up: its histograms are destroyed when nobody uses this object any more.
    func retire() { isDestroyed.store(true, ordering: .relaxed) }
}

/// The handle of one label set of requests. Any thread.
final class RequestHandles: Sendable {
    private let held: HeldRecorder
    private let isDestroyed = Atomic<Bool>(false)

    init(_ dimensions: [(String, String)], _ maker: MetricMaker) {
        held = maker.heldRecorder(MetricName.requestDuration, dimensions)
    }

    deinit {
        held.close(destroys: isDestroyed.load(ordering: .relaxed))
    }

    var duration: Recorder { held.recorder }

    /// As in ``AttemptHandles``.
    func retire() { isDestroyed.store(true, ordering: .relaxed) }
}
