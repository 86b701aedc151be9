public import Errand
import Synchronization

/// Records the calls of an accessory, in order.
public final class RecordingAccessory: Accessory {
    /// One call.
    public enum Event: Sendable, Hashable {
        /// `requestWillStart`, with the request's id.
        case willStart(UInt64)
        /// `requestWillStop`.
        case willStop(UInt64)
        /// `requestDidStop`.
        case didStop(UInt64)
    }

    private let noted = Mutex<[Event]>([])
    private let onWillStop: (@Sendable (AnyRequest) -> Void)?

    /// `onWillStop` is called inside `requestWillStop`. Tests use it to check what may be done there.
    public init(onWillStop: (@Sendable (AnyRequest) -> Void)? = nil) {
        self.onWillStop = onWillStop
    }

    /// The calls recorded so far.
    public var events: [Event] { noted.withLock { $0 } }

    /// Whether every recorded request has started, is stopping and has stopped exactly once each, in that order.
    public var isBalanced: Bool {
        var next: [UInt64: Int] = [:]
        for event in events {
            let (id, step) =
                switch event {
                case .willStart(let id): (id, 0)
                case .willStop(let id): (id, 1)
                case .didStop(let id): (id, 2)
                }
            guard next[id, default: 0] == step else { return false }
            next[id] = (step + 1) % 3
        }
        return next.values.allSatisfy { $0 == 0 }
    }

    /// Records the call.
    public func requestWillStart(_ request: AnyRequest) {
        noted.withLock { $0.append(.willStart(request.id)) }
    }

    /// Records the call, then calls `onWillStop`.
    public func requestWillStop(_ request: AnyRequest) {
        noted.withLock { $0.append(.willStop(request.id)) }
        onWillStop?(request)
    }

    /// Records the call.
    public func requestDidStop(_ request: AnyRequest) {
        noted.withLock { $0.append(.didStop(request.id)) }
    }
}
