import FoundationEssentials

extension ConnectionTrace {
    /// Reads the lines `name: value` of the core's CONNECTED record (`errand_record.h`). Unknown lines are left out.
    package init(lines: some Sequence<UInt8>) {
        self.init()
        for line in Array(lines).split(separator: UInt8(ascii: "\n")) {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            var value = line[line.index(after: colon)...]
            if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
            if value.last == UInt8(ascii: "\r") { value = value.dropLast() }
            take(String(decoding: line[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self))
        }
    }

    private mutating func take(_ name: String, _ value: String) {
        switch name {
        case "proxy": proxy = value
        case "tls-version": tls = TLS(version: value)
        case "tls-cipher": tls?.cipher = value
        case "tls-protocol": tls?.applicationProtocol = value
        case "tls-resumed": tls?.isResumed = true
        case "tls-error": tls?.verificationError = value
        case "subject": tls?.certificates.append(Certificate(subject: value))
        default:
            guard let last = tls?.certificates.indices.last else { return }
            tls?.certificates[last].take(name, value)
        }
    }
}

extension ConnectionTrace.Certificate {
    fileprivate mutating func take(_ name: String, _ value: String) {
        switch name {
        case "issuer": issuer = value
        case "not-before": notBefore = Self.date(value)
        case "not-after": notAfter = Self.date(value)
        case "sha256": sha256 = value
        case "name": names.append(value)
        default: break
        }
    }

    private static func date(_ seconds: String) -> Date? {
        Int64(seconds).map { Date(timeIntervalSince1970: TimeInterval($0)) }
    }
}
