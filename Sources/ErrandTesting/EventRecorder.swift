public import Errand
import Synchronization

/// Notes every event of the requests that it watches, those in between included, in the order in which it is told.
///
/// ```swift
/// let recorder = EventRecorder()
/// configuration.accessories = [recorder]
/// _ = try await client.run(GetUser(id: 1))
/// #expect(recorder.names == ["willStart", "queued", "started", "sent", "head 200", "willStop", "didStop"])
/// ```
///
/// Watching has the engine report what it would else keep to itself; `RecordingAccessory` does not.
public final class EventRecorder: EventAccessory {
    /// One event.
    public struct Entry: Sendable, CustomStringConvertible {
        /// ``/Errand/AnyRequest/id``.
        public let request: UInt64
        /// What happened: `willStart`, `queued`, `started`, `sent`, `head 200`, `progress`, `redirected 302`,
        /// `replaying 503`, `cacheHit`, `cached 200`, `willStop`, `didStop`.
        public let description: String
        /// The event itself; `nil` for start and end.
        public let event: RequestEvent?
    }

    private let noted = Mutex<[Entry]>([])
    private let onEvent: (@Sendable (AnyRequest, RequestEvent) throws -> Void)?

    /// `onEvent` is called inside of each event in between, for tests of what may be done, or thrown, there.
    public init(onEvent: (@Sendable (AnyRequest, RequestEvent) throws -> Void)? = nil) {
        self.onEvent = onEvent
    }

    /// What was told so far.
    public var entries: [Entry] { noted.withLock { $0 } }

    /// The same in words, progress left out: how often it is told is a matter of time.
    public var names: [String] { entries.map(\.description).filter { $0 != "progress" } }

    /// The progress that was told.
    public var progress: [TransferProgress] {
        entries.compactMap { entry in
            guard case .progress(let progress) = entry.event else { return nil }
            return progress
        }
    }

    private func note(_ request: AnyRequest, _ words: String, _ event: RequestEvent? = nil) {
        noted.withLock { $0.append(Entry(request: request.id, description: words, event: event)) }
    }

    /// Notes it.
    public func requestWillStart(_ request: AnyRequest) { note(request, "willStart") }

    /// Notes it.
    public func requestWillStop(_ request: AnyRequest) { note(request, "willStop") }

    /// Notes it.
    public func requestDidStop(_ request: AnyRequest) { note(request, "didStop") }

    /// Notes it, then calls `onEvent`.
    public func request(_ request: AnyRequest, did event: RequestEvent) throws {
        note(request, Self.words(event), event)
        try onEvent?(request, event)
    }

    private static func words(_ event: RequestEvent) -> String {
        switch event {
        case .queued: "queued"
        case .started: "started"
        case .sent: "sent"
        case .head(let response): "head \(response.statusCode)"
        case .progress: "progress"
        case .redirected(let attempt, _): "redirected \(attempt.response?.statusCode ?? 0)"
        case .replaying(let attempt): "replaying \(attempt.response?.statusCode ?? 0)"
        case .advanced(let ended, let count): "advanced \(ended)/\(count.map(String.init) ?? "?")"
        case .cacheHit: "cacheHit"
        case .cached(let response): "cached \(response.statusCode)"
        }
    }
}
