internal import CErrandFaultServer
import Foundation

/// A loopback port that refuses connections, or one that never answers them. The port keeps that behaviour as long as
/// this object lives.
public final class FaultPort: Sendable {
    /// What happens when a client connects to the port.
    public enum Kind: Sendable {
        /// Nothing listens on the port: connecting fails at once.
        case refused
        /// The accept queue is full: connecting never completes.
        case silent
    }

    // Set once and never mutated; destroyed in deinit, when no other reference is left.
    nonisolated(unsafe) private let port: OpaquePointer

    /// The port's number.
    public let number: Int

    /// Reserves a port.
    ///
    /// - Throws: `POSIXError` if no socket can be created.
    public init(_ kind: Kind) throws {
        var created: OpaquePointer?
        let code = errand_fault_port_create(
            kind == .refused ? ERRAND_FAULT_PORT_REFUSED : ERRAND_FAULT_PORT_SILENT, &created)
        guard code == 0, let created else {
            throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
        }
        port = created
        number = Int(errand_fault_port_number(created))
    }

    deinit {
        errand_fault_port_destroy(port)
    }
}
