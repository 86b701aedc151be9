public import Errand
import Synchronization

/// Records every event of the requests that it observes, in the order in which the engine reports them. This includes
/// the events between start and end.
///
/// ```swift
/// let recorder = EventRecorder()
/// configuration.accessories = [recorder]
/// _ = try await client.run(GetUser(id: 1))
/// #expect(recorder.names == ["willStart", "queued", "started", "sent", "head 200", "willStop", "didStop"])
/// ```
///
/// With this recorder the engine also reports events that it otherwise skips when nothing observes them.
/// `RecordingAccessory` does not have this effect.
public final class EventRecorder: EventAccessory {
    /// One event.
    public struct Entry: Sendable, CustomStringConvertible {
        /// ``/Errand/AnyRequest/id``.
        public let request: UInt64
        /// What happened: `willStart`, `queued`, `started`, `connected`, `sent`, `head 200`, `progress`,
        /// `redirected 302`, `replaying 503`, `resent connection`, `retrying status503`, `decided refused.breaker`, `advanced 1/3`, `answered 200`,
        /// `fellBack stale`, `cacheHit`, `cached 200`, `willStop`, `didStop`.
        public let description: String
        /// The event itself; `nil` for `willStart`, `willStop` and `didStop`.
        public let event: RequestEvent?
    }

    private let noted = Mutex<[Entry]>([])
    private let onEvent: (@Sendable (AnyRequest, RequestEvent) throws -> Void)?

    /// `onEvent` is called for each event between start and end. Tests use it to check what such a callback may do or
    /// throw.
    public init(onEvent: (@Sendable (AnyRequest, RequestEvent) throws -> Void)? = nil) {
        self.onEvent = onEvent
    }

    /// The events recorded so far.
    public var entries: [Entry] { noted.withLock { $0 } }

    /// The descriptions of the events without `progress`, because the number of progress events depends on timing.
    public var names: [String] { entries.map(\.description).filter { $0 != "progress" } }

    /// The recorded progress values.
    public var progress: [TransferProgress] {
        entries.compactMap { entry in
            guard case .progress(let progress) = entry.event else { return nil }
            return progress
        }
    }

    private func note(_ request: AnyRequest, _ words: String, _ event: RequestEvent? = nil) {
        noted.withLock { $0.append(Entry(request: request.id, description: words, event: event)) }
    }

    /// Records `willStart`.
    public func requestWillStart(_ request: AnyRequest) { note(request, "willStart") }

    /// Records `willStop`.
    public func requestWillStop(_ request: AnyRequest) { note(request, "willStop") }

    /// Records `didStop`.
    public func requestDidStop(_ request: AnyRequest) { note(request, "didStop") }

    /// Records the event, then calls `onEvent`.
    public func request(_ request: AnyRequest, did event: RequestEvent) throws {
        note(request, Self.words(event), event)
        try onEvent?(request, event)
    }

    private static func words(_ event: RequestEvent) -> String {
        switch event {
        case .queued: "queued"
        case .started: "started"
        case .connected: "connected"
        case .sent: "sent"
        case .head(let response): "head \(response.statusCode)"
        case .progress: "progress"
        case .redirected(let attempt, _): "redirected \(attempt.response?.statusCode ?? 0)"
        case .replaying(let attempt): "replaying \(attempt.response?.statusCode ?? 0)"
        case .resent(let reason): "resent \(reason.label)"
        case .retrying(let retry): "retrying \(retry.reason)"
        case .decided(let decision): "decided \(decision.label)"
        case .advanced(let ended, let count): "advanced \(ended)/\(count.map(String.init) ?? "?")"
        case .answered(let response): "answered \(response.statusCode)"
        case .fellBack(_, let source): "fellBack \(source)"
        case .cacheHit: "cacheHit"
        case .cached(let response): "cached \(response.statusCode)"
        }
    }
}
