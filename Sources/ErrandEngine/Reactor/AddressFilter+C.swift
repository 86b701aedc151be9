import CErrand
import Glibc

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
            self.refusal(
                of: UnsafeRawBufferPointer(rebasing: bytes[..<count]), port: address.port, isOpen: address.is_open != 0)
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

/// Keeps a filter for the core's options, which release it with their last reference, on any thread.
private final class AddressFilterBox: Sendable {
    let filter: any AddressFilter

    init(_ filter: any AddressFilter) { self.filter = filter }
}

extension errand_options_init {
    /// Makes the core's object of the options, with this judge of addresses; `.client`: the judge of the group. Owns:
    /// the caller gets the reference of `made`.
    mutating func create(
        judgedBy addresses: PartChoice<any AddressFilter>, _ made: inout OpaquePointer?
    ) -> errand_status {
        switch addresses {
        case .client:
            return errand_options_create(&self, &made)
        case .off:
            address_policy = .any
            return errand_options_create(&self, &made)
        case .own(let filter):
            let box = Unmanaged.passRetained(AddressFilterBox(filter))
            address_policy = .own
            address_filter_context = box.toOpaque()
            address_filter = { context, _, address, reason in
                guard let context else { return 1 }
                let box = Unmanaged<AddressFilterBox>.fromOpaque(context).takeUnretainedValue()
                return box.filter.answer(for: address.pointee, reason)
            }
            address_filter_release = { context in
                if let context { Unmanaged<AddressFilterBox>.fromOpaque(context).release() }
            }
            let status = errand_options_create(&self, &made)
            if status != .ok { box.release() }
            return status
        }
    }
}
