import Glibc
import Synchronization

/// The budget and the breaker of one origin or name.
final class KeyedParts: Sendable {
    let key: String
    /// `nil`: off.
    let budget: RetryBudget?
    let breaker: CircuitBreaker?

    init(key: String, budget: RetryBudget?, breaker: CircuitBreaker?) {
        self.key = key
        self.budget = budget
        self.breaker = breaker
    }
}

/// The parts of the origins that were asked for last, by the text before the path of a URL. To take an origin from a URL
/// and to find two parts by it costs as much as a tenth of a request.
///
/// An entry is used for a second. Then the parts are looked up anew, so that the bounded maps that they come from see
/// that they are in use.
struct KeyedPartsCache: Sendable {
    private struct Entry: Sendable {
        let prefix: String
        let parts: KeyedParts
        let isValidUntil: Duration
    }

    private static let count = 8
    private static let lifetime = Duration.seconds(1)
    private var entries = [Entry?](repeating: nil, count: count)

    /// `nil`: the parts have to be looked up.
    func parts(of url: String, now: Duration) -> KeyedParts? {
        Self.withPrefix(of: url) { prefix, place in
            guard let entry = entries[place], now < entry.isValidUntil else { return nil }
            return Self.isEqual(entry.prefix, prefix) ? entry.parts : nil
        }
    }

    mutating func store(_ parts: KeyedParts, of url: String, now: Duration) {
        guard
            let (prefix, place) = Self.withPrefix(
                of: url, { (String(decoding: $0, as: UTF8.self), $1) })
        else { return }
        entries[place] = Entry(prefix: prefix, parts: parts, isValidUntil: now.clampedTime(plus: Self.lifetime))
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

    private static func isEqual(_ text: String, _ bytes: UnsafeRawBufferPointer) -> Bool {
        guard text.utf8.count == bytes.count, let base = bytes.baseAddress else { return false }
        return text.utf8.withContiguousStorageIfAvailable { stored in
            stored.baseAddress.map { memcmp($0, base, bytes.count) == 0 } ?? false
        } ?? false
    }
}
