import CErrand
import Glibc

/// Judges the addresses that the engine connects to, and the peers of the connections that requests are sent on. The
/// module `ErrandResilience` has one.
package protocol AddressFilter: Sendable {
    /// Why nothing may be sent to the address; `nil`: it may. `address`: 4 or 16 bytes in network order; none where the
    /// address cannot be read. Called on a loop thread, so it must be fast and must not block.
    func refusal(of address: UnsafeRawBufferPointer, port: UInt16) -> String?
}

extension AddressFilter {
    /// The answer for `errand_address_filter`: not 0 for a refusal, whose text is copied to `reason`, which has room
    /// for `ERRAND_REASON_MAX` bytes.
    func answer(for address: errand_address, _ reason: UnsafeMutablePointer<CChar>) -> Int32 {
        let count: Int
        switch address.family {
        // A Unix socket has no address. The program has chosen its path; no URL and no redirect can.
        case AF_UNIX: return 0
        case AF_INET: count = 4
        case AF_INET6: count = 16
        default: count = 0
        }
        let refusal = withUnsafeBytes(of: address.bytes) { bytes in
            self.refusal(of: UnsafeRawBufferPointer(rebasing: bytes[..<count]), port: address.port)
        }
        guard let refusal else { return 0 }
        var length = 0
        for byte in refusal.utf8.prefix(Int(ERRAND_REASON_MAX) - 1) where byte != 0 {
            reason[length] = CChar(bitPattern: byte)
            length += 1
        }
        reason[length] = 0
        return 1
    }
}
