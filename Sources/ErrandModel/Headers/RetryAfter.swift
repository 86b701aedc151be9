package import HTTPTypes

extension HTTPFields {
    /// `Retry-After` (RFC 9110 10.2.3): seconds, or a date, which is compared with the server's own clock (`Date`).
    /// `nil` where there is none that can be read.
    package var retryAfter: Duration? {
        guard let value = self[.retryAfter] else { return nil }
        if !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return .seconds(Swift.min(Int64(value) ?? .max, 1 << 31))
        }
        guard let until = HTTPDate.fixed(value), let sent = self[.date].flatMap(HTTPDate.fixed) else { return nil }
        return .milliseconds(Swift.min(Swift.max(until - sent, 0), 1000 << 31))
    }
}
