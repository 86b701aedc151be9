import Errand
import HTTPTypes

/// The outcome of one request of a file.
struct RequestOutcome: Sendable {
    /// The path of the request's file.
    let file: String
    let name: String
    let method: String
    /// The URL without secrets.
    let url: String
    /// `nil`: there was no response.
    var status: Int?
    var milliseconds: Double?
    /// The size of the response's body.
    var bytes = 0
    var failure: FetchResult.Failure?

    /// The verdicts of test runners.
    enum Verdict: Sendable {
        case passed
        /// A response was received, but did not meet the expectations.
        case failed
        /// No response was received, or the request could not be made.
        case broken
        case skipped
    }

    var verdict: Verdict {
        guard let failure else { return .passed }
        switch failure.exit {
        case .interrupted: return .skipped
        case .httpStatus, .expectation: return .failed
        default: return .broken
        }
    }

    /// Makes the outcome of a request that has not run yet.
    init(_ planned: HTTPFilePlan.Planned) {
        file = planned.file
        name = planned.label
        method = planned.request.method
        url = Redaction.standard.url(String(planned.request.url.source))
    }

    init(_ command: HTTPFileCommand, _ planned: HTTPFilePlan.Planned) {
        file = planned.file
        name = planned.label
        method = command.method.rawValue
        url = Redaction.standard.url(command.url)
    }

    mutating func take(_ response: HTTPFileCommand.Response) {
        status = response.status
        bytes = response.bytes
        take(response.metrics)
    }

    mutating func take(_ error: ErrandError) {
        // A response that was rejected is still recorded.
        if let response = error.response { take(HTTPFileCommand.Response(response)) }
        if let metrics = error.metrics { take(metrics) }
        if let unmet = error.underlyingError as? UnmetExpectations {
            failure = .init(name: "expectationFailed", message: unmet.message, exit: .expectation)
            return
        }
        failure = error == .cancelled ? .stopped : FetchResult.Failure(error)
    }

    private mutating func take(_ metrics: TransferMetrics) {
        guard metrics.total > .zero else { return }
        milliseconds = Double(metrics.total.nanoseconds) / 1e6
    }

    var json: PrintedJSON {
        .object([
            ("file", .string(file)), ("name", .string(name)), ("method", .string(method)), ("url", .string(url)),
            ("status", status.map { .integer($0) } ?? .null), ("ms", milliseconds.map { .number($0) } ?? .null),
            ("bytes", .integer(bytes)), ("error", failure.map(\.json) ?? .null),
        ])
    }
}

extension FetchResult.Failure {
    /// The failure of a request that could not be made.
    init(making error: any Error) {
        switch error {
        case let error as HTTPFileError: self.init(name: "invalidFile", message: error.text, exit: .inputData)
        case let error as ToolError: self.init(name: "fileUnreadable", message: error.message, exit: error.status)
        case let error as ErrandError: self.init(error)
        default: self.init(name: "internalFailure", message: ToolError.reason(error), exit: .internalFailure)
        }
    }

    /// The request was not started, or was stopped, because the group ended.
    static let stopped = Self(name: "cancelled", message: "stopped, because the group ended", exit: .interrupted)
    static let notRun = Self(name: "notRun", message: "not run, because the group ended", exit: .interrupted)
}
