internal import CErrandFaultServer
import Foundation

/// A loopback port that refuses connections, or one that never answers them. It keeps its kind while it lives.
public final class FaultPort: Sendable {
    /// What connecting to it does.
    public enum Kind: Sendable {
        /// Nobody listens: connecting fails at once.
        case refused
        /// The backlog is full: connecting never ends.
        case silent
    }

    // Set once, never written through; destroyed in deinit, when no other reference is left.
    nonisolated(unsafe) private let port: OpaquePointer

    /// The port's number.
    public let number: Int

    /// Takes a port.
    ///
    /// - Throws: `POSIXError` where no socket can be had.
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
