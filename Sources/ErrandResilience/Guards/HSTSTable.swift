/// The hosts that are reached by https alone (RFC 6797 8), without a lock and a clock. Expiry is a date, because the
/// table outlives the process: `now` is the wall clock's time.
struct HSTSTable: Sendable {
    struct Entry: Sendable, Hashable {
        /// `nil`: does not expire (`unlimited` in a file).
        var expires: CacheTime?
        var includesSubdomains: Bool

        func isExpired(at now: CacheTime) -> Bool { expires.map { $0 <= now } ?? false }
    }

    /// What a field led to.
    enum Change: Sendable, Hashable {
        case none, stored, removed
    }

    private(set) var learned: [String: Entry] = [:]
    /// The hosts that the user lists, which no field changes. The value: whether subdomains are included.
    private let preloaded: [String: Bool]
    private let capacity: Int

    init(preloads: [(host: String, includesSubdomains: Bool)] = [], capacity: Int = 10_000) {
        self.capacity = capacity.clamped(1...1 << 20)
        var preloaded: [String: Bool] = [:]
        for preload in preloads {
            guard let name = Self.name(preload.host) else { continue }
            preloaded[name] = preload.includesSubdomains || preloaded[name] ?? false
        }
        self.preloaded = preloaded
    }

    /// A response came from the host over TLS without any fault. `values` are those of the field, of which only the
    /// first counts (8.1).
    mutating func fieldReceived(_ values: [String], from host: String, now: CacheTime) -> Change {
        guard let name = Self.name(host), let policy = values.first.flatMap({ HSTSPolicy($0) }) else { return .none }
        guard policy.maxAge > 0 else { return learned.removeValue(forKey: name) == nil ? .none : .removed }
        let expires = CacheTime(milliseconds: now.milliseconds + policy.maxAge * 1000)
        insert(name, Entry(expires: expires, includesSubdomains: policy.includesSubdomains), now: now)
        return .stored
    }

    /// Stores an entry of a file. Of two entries for a host the later expiry stays.
    mutating func entryRead(_ host: String, _ entry: Entry, now: CacheTime) -> Bool {
        guard let name = Self.name(host), !entry.isExpired(at: now) else { return false }
        if let known = learned[name], !known.isExpired(at: now) {
            guard let knownTime = known.expires, entry.expires.map({ knownTime < $0 }) ?? true else { return true }
        }
        insert(name, entry, now: now)
        return true
    }

    mutating func forgot(_ host: String) {
        guard let name = Self.name(host) else { return }
        learned[name] = nil
    }

    mutating func forgotAll() {
        learned = [:]
    }

    /// Whether the host, or a parent with its subdomains, has a policy (8.2).
    func isKnown(_ host: String, now: CacheTime) -> Bool {
        guard let name = Self.name(host) else { return false }
        var rest = Substring(name)
        var isExact = true
        while true {
            let key = String(rest)
            if let includes = preloaded[key], isExact || includes { return true }
            if let entry = learned[key], !entry.isExpired(at: now), isExact || entry.includesSubdomains { return true }
            guard let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) else { return false }
            rest = rest[rest.utf8.index(after: dot)...]
            isExact = false
        }
    }

    private mutating func insert(_ name: String, _ entry: Entry, now: CacheTime) {
        if learned[name] == nil { makeRoom(now: now) }
        learned[name] = entry
    }

    /// A full table loses its expired entries, and an eighth of its capacity at least. A removal looks at all entries;
    /// it is rare because it makes room for an eighth.
    private mutating func makeRoom(now: CacheTime) {
        guard learned.count >= capacity else { return }
        learned = learned.filter { !$0.value.isExpired(at: now) }
        let excess = learned.count - (capacity - max(1, capacity / 8))
        guard excess > 0 else { return }
        for name in inOrderOfRemoval.prefix(excess) { learned[name] = nil }
    }

    /// A host as the table's key: lower case, without one dot at the end. `nil` for IP literals, which never have a
    /// policy (8.1.1), and for text that is no host name. An international name has to be in its ASCII form.
    static func name(_ host: String) -> String? {
        var bytes = Array(host.utf8)
        if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
        guard (1...253).contains(bytes.count) else { return nil }
        var labelLength = 0
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "."):
                guard labelLength > 0 else { return nil }
                labelLength = 0
            case 0x41...0x5A:
                bytes[index] = byte | 0x20
                labelLength += 1
            case 0x30...0x39, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): labelLength += 1
            default: return nil
            }
            guard labelLength <= 63 else { return nil }
        }
        guard labelLength > 0 else { return nil }
        // With a last label of digits, or in hexadecimal, the name is an IPv4 address (WHATWG URL, "ends in a number").
        let last = bytes[((bytes.lastIndex(of: UInt8(ascii: ".")) ?? -1) + 1)...]
        if last.allSatisfy({ (0x30...0x39).contains($0) }) || last.starts(with: "0x".utf8) { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
