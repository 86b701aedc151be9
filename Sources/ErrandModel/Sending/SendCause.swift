/// Why a transfer of a run is sent. One byte of each description. Its payment is a separate value (``SendPayment``).
package enum SendCause: UInt8, Sendable {
    /// The run's first transfer.
    case first
    case redirect
    case authentication
    case replay
    case body
    case resumption
}
