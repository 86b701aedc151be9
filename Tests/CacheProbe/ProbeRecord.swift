import Errand
import ErrandTesting

/// Records whose every byte follows from their place and version, so that two that are mixed are told.
enum ProbeRecord {
    static let count = 48

    static func key(_ place: Int) -> CacheKey {
        let number = String(place, radix: 16)
        let digest = String(repeating: "0", count: 64 - number.count) + number
        guard let key = CacheKey(namespace: "probe", digest: digest) else { fatalError("no key for \(place)") }
        return key
    }

    static func record(_ place: Int, version: Int64) -> CacheRecord {
        var numbers = SeededGenerator(seed: UInt64(bitPattern: version) &* 64 &+ UInt64(place))
        let size = Int(numbers.next() % 30_000)
        let byte = UInt8(truncatingIfNeeded: numbers.next())
        return CacheRecord(
            url: "http://probe/\(place)", head: Array("HTTP/1.1 200 OK\r\nETag: \"\(version)\"\r\n\r\n".utf8),
            body: [UInt8](repeating: byte, count: size), storedAt: 4_000_000_000_000, version: version,
            tags: [place.isMultiple(of: 2) ? "even" : "odd"])
    }
}
