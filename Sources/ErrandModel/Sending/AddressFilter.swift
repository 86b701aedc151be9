/// Judges the addresses that the engine connects to, and the peers of the connections that requests are sent on. The
/// module `ErrandResilience` has one.
package protocol AddressFilter: Sendable {
    /// Why nothing may be sent to the address; `nil`: sending is allowed. `address`: 4 or 16 bytes in network order; empty
    /// if the address cannot be read. `isOpen`: the request was allowed to connect to the address, has done so, and is
    /// about to be sent; false before a connect, and for the peer of a reused connection. Called on a loop thread, so it
    /// must be fast and must not block.
    func refusal(of address: UnsafeRawBufferPointer, port: UInt16, isOpen: Bool) -> String?

    /// Why a proxy must not be asked for the host of a URL; `nil`: it may be asked. `host`: in lower case; an IPv4 address
    /// in any notation as four decimal numbers, an IPv6 address in brackets; empty: the host cannot be read. `isBypassed`:
    /// the host is reached without the proxy, or may be, as far as that is known. Called on the thread that sends the
    /// request.
    func refusal(ofProxied host: String, port: UInt16, isBypassed: Bool) -> String?

    /// The filter for one more engine. A filter that counts returns one with its own counts.
    func forEngine() -> any AddressFilter

    /// Whether the other filter judges in the same way. Requests of such filters may share connections.
    func judges(as other: any AddressFilter) -> Bool

    /// The filter itself if it is an object; `nil`: the filter is a value.
    var object: AnyObject? { get }

    /// A text that is the same for filters that judge in the same way, and differs for others, in every run of the
    /// program; `nil`: there is none. It is part of the key of stored responses.
    var rules: String? { get }
}

extension AddressFilter {
    /// None.
    package func refusal(ofProxied host: String, port: UInt16, isBypassed: Bool) -> String? { nil }

    /// The same filter.
    package func forEngine() -> any AddressFilter { self }

    /// None.
    package var rules: String? { nil }

    /// A value.
    package var object: AnyObject? { nil }

    /// Whether both are one object.
    package func isSame(as other: (any AddressFilter)?) -> Bool {
        guard let object, let other = other?.object else { return false }
        return object === other
    }

    /// No: filters that cannot be compared are different.
    package func judges(as other: any AddressFilter) -> Bool { false }
}
