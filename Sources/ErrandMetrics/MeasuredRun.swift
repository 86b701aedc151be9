import Errand

/// Measures all runs of requests that have the same server, method and template. The values that differ between them
/// are in their scopes.
final class MeasuredRun: ObservedRun {
    /// The key by which the run is found; `nil`: the run is not kept in a table.
    let key: RunKey?
    private let recording: AttemptRecording
    /// `nil`: a group, whose children are measured.
    let server: ServerSeries?
    private let method: String
    private let template: String?

    init(
        _ key: RunKey?, _ recording: AttemptRecording, _ server: ServerSeries?, method: String,
        template: String?
    ) {
        self.key = key
        self.recording = recording
        self.server = server
        self.method = method
        self.template = template
    }

    func attemptBegins(
        _ description: RequestDescription, number: Int, of scope: AttemptScope, headers: inout HeaderBlock?
    ) -> any ObservedAttempt {
        let server = series(of: description, in: scope)
        server.attemptBegins()
        return server
    }

    /// The series of an attempt: those of the run, unless a redirect or an endpoint has led to another URL.
    private func series(of description: RequestDescription, in scope: AttemptScope) -> ServerSeries {
        if let server, description.url == scope.url, description.method.rawValue == method { return server }
        let template = URLTemplate(template, of: scope.url)?.text(for: URLReference(description.url))
        return recording.series(of: description, template: template)
    }

    func ended(_ outcome: RunOutcome, of scope: AttemptScope) {
        guard let server else { return }
        server.requestEnded(outcome, after: scope.duration)
        // The run of a server without a series of its own is found in the table, so no other code looks for room for
        // it.
        if server.isOverflow { recording.makeRoom(at: server.lastUse) }
        recording.instruments.requestEnded(attempts: scope.attempts, cache: outcome.response?.cacheInfo?.label)
    }

    func joined(_ opener: any ObservedRun) {}

    // Metrics have no task-locals, and no part in logs.

    var hasContext: Bool { false }

    var logMetadata: [String: String] { [:] }

    func within(_ place: RunPlace, _ body: () -> Void) { body() }

    func carry<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value { await body() }
}
