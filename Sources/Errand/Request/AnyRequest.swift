import Synchronization

/// A request without the type of its command: what accessories, delegates and lists of requests see.
///
/// All of it may be used from any thread. A running request is kept alive by the transport; dropping one's own reference
/// does not stop it. It keeps its client alive.
///
/// `@unchecked Sendable`: `core` is a mutex, everything else here is constant. What ``Request`` adds is read and
/// written only while that mutex is held.
public class AnyRequest: TransferReceiver, @unchecked Sendable {
    /// Unique in the process.
    public let id: UInt64
    let client: Client
    let core = Mutex(Core())

    struct Core: ~Copyable {
        var machine = RequestStateMachine()
        /// The present transfer's.
        var description: RequestDescription?
        /// The last result, whole or partial.
        var response: Response?
        /// Transfers before the present one; filled by redirects alone.
        var earlier: [Attempt] = []
        /// When `Timeouts.total` is up; counts over all transfers of a run.
        var deadline: ContinuousClock.Instant?
        /// Added by the user.
        var hooks: Hooks?
        /// Those who were told of the start and must be told of the end.
        var told: [any Accessory] = []
        /// An `async` caller who goes on by himself.
        var continuation: UnsafeContinuation<TransferResult, Never>?
    }

    /// Apart because most requests have none.
    final class Hooks {
        var accessories: [any Accessory] = []
        weak var delegate: (any RequestDelegate)?
    }

    private static let lastID = Atomic<UInt64>(0)

    init(client: Client, callbacks: CallbackQueue) {
        self.client = client
        id = Self.lastID.wrappingAdd(1, ordering: .relaxed).newValue
        super.init(callbacks: callbacks)
    }

    // MARK: What Request adds

    /// The command's description, made now.
    func describe() throws(ErrandError) -> RequestDescription { throw .internalFailure }

    /// The command's redirect policy, or the client's.
    var redirectPolicy: RedirectPolicy { client.redirects }

    /// Turns the result of the last transfer into the outcome and tells everybody.
    func conclude(_ result: TransferResult) {}

    /// Takes the value that the last run left. Called while `core` is locked.
    func takeValue() -> (any Sendable)? { nil }

    // MARK: News from the transport

    override final func receive(_ event: TransferEvent.Kind) {
        // Streams have receivers of their own; a buffered transfer has one event.
        guard case .ended(let result) = event else { return }
        if let continuation = core.withLock({ $0.continuation.take() }) {
            continuation.resume(returning: result)
        } else if case .submit(let description, let transfer) = advance(result) {
            submit(description, transfer: transfer)
        }
    }
}
