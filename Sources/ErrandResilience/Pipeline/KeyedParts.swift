import Glibc
import Synchronization

/// The parts of the requests to one origin, or of one name. A part that is `nil` is off.
final class KeyedParts: Sendable {
    let key: String
    let budget: RetryBudget?
    let breaker: CircuitBreaker?
    /// The limits keep what they know by ``key``.
    let concurrency: ConcurrencyLimit?
    let rate: RateLimit?

    init(
        key: String, budget: RetryBudget?, breaker: CircuitBreaker?, concurrency: ConcurrencyLimit? = nil,
        rate: RateLimit? = nil
    ) {
        self.key = key
        self.budget = budget
        self.breaker = breaker
        self.concurrency = concurrency
        self.rate = rate
    }
}

/// The parts of the origins that were asked for last, by the text before the path of a URL. Taking an origin from a URL
/// and finding two parts by it costs as much as a tenth of a request.
///
/// An entry (``FirstAttempts``) is used for a second. Then the parts are looked up anew, so that the bounded maps that they come from see
/// that they are in use.
struct KeyedPartsCache: Sendable {
    private static let count = 8
    private static let lifetime = Duration.seconds(1)
    private var entries = [FirstAttempts?](repeating: nil, count: count)
    /// The entry that was stored or found last: most clients ask one origin again and again.
    private var last: FirstAttempts?

    /// `nil`: the parts have to be looked up.
    mutating func attempts(of description: RequestDescription, now: Duration) -> FirstAttempts? {
        if let last, now < last.isValidUntil, Self.begins(description.url, with: last.prefix) { return last }
        let found = entry(of: description.url, now: now)
        if let found { last = found }
        return found
    }

    /// Whether the authority of a URL ends where the prefix ends.
    private static func begins(_ url: String, with prefix: ContiguousArray<UInt8>) -> Bool {
        url.utf8.withContiguousStorageIfAvailable { bytes in
            guard prefix.count < bytes.count, bytes[prefix.count] == UInt8(ascii: "/") else { return false }
            return isEqual(prefix, UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[..<prefix.count])))
        } ?? false
    }

    private func entry(of url: String, now: Duration) -> FirstAttempts? {
        Self.withPrefix(of: url) { prefix, place in
            guard let entry = entries[place], now < entry.isValidUntil else { return nil }
            return Self.isEqual(entry.prefix, prefix) ? entry : nil
        }
    }

    /// Returns an entry for the parts that were looked up.
    mutating func store(
        _ parts: KeyedParts, of url: String, now: Duration, _ transport: ResilientTransport
    ) -> FirstAttempts {
        let found = Self.withPrefix(of: url, { (ContiguousArray($0), $1) })
        let entry = FirstAttempts(
            parts, of: transport, prefix: found?.0 ?? [], isValidUntil: now.clampedTime(plus: Self.lifetime))
        guard let (_, place) = found else { return entry }
        entries[place] = entry
        last = entry
        return entry
    }

    /// Calls `body` with the scheme and the authority, and their place in the table; `nil` for another URL.
    private static func withPrefix<Result>(
        of url: String, _ body: (UnsafeRawBufferPointer, Int) -> Result?
    ) -> Result? {
        url.utf8.withContiguousStorageIfAvailable { bytes -> Result? in
            // Behind `https://`.
            var end = 8
            var sum = 0
            while end < bytes.count, bytes[end] != UInt8(ascii: "/"), bytes[end] != UInt8(ascii: "?") {
                sum = sum &* 31 &+ Int(bytes[end])
                end += 1
            }
            guard end <= bytes.count else { return nil }
            return body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[..<end]), sum & (count - 1))
        } ?? nil
    }

    private static func isEqual(_ prefix: ContiguousArray<UInt8>, _ bytes: UnsafeRawBufferPointer) -> Bool {
        prefix.withUnsafeBytes { stored in
            guard stored.count == bytes.count, let one = stored.baseAddress, let other = bytes.baseAddress else {
                return false
            }
            return memcmp(one, other, stored.count) == 0
        }
    }
}
