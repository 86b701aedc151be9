package import HTTPTypes

/// A point of the wall clock. Bounded to about 285,000 years around 1970, so that no sum or difference of two
/// overflows, whatever a server sends. Durations are `Int64` milliseconds.
package struct CacheTime: Comparable, Hashable, Sendable {
    private static let bound: Int64 = 1 << 53

    /// Since 1970.
    package let milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = min(max(milliseconds, -Self.bound), Self.bound)
    }

    package init(seconds: Int64) {
        let bound = Self.bound / 1000
        self.init(milliseconds: min(max(seconds, -bound), bound) * 1000)
    }

    package static func < (left: CacheTime, right: CacheTime) -> Bool {
        left.milliseconds < right.milliseconds
    }

    package static func - (left: CacheTime, right: CacheTime) -> Int64 {
        left.milliseconds - right.milliseconds
    }

    static func + (time: CacheTime, span: Int64) -> CacheTime {
        CacheTime(milliseconds: time.milliseconds + min(max(span, -2 * bound), 2 * bound))
    }
}

extension HTTPFields {
    /// `Retry-After` (RFC 9110 10.2.3): seconds, or a date, which is compared with the server's own clock (`Date`).
    /// `nil` if there is none that can be read.
    package var retryAfter: Duration? {
        guard let value = self[.retryAfter] else { return nil }
        if !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return .seconds(Swift.min(Int64(value) ?? .max, 1 << 31))
        }
        guard let until = HTTPDate.fixed(value), let sent = self[.date].flatMap(HTTPDate.fixed) else { return nil }
        return .milliseconds(Swift.min(Swift.max(until - sent, 0), 1000 << 31))
    }
}
