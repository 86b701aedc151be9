extension HSTSTable {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    private static let unlimited = "unlimited"

    /// The learned entries in the format of curl's HSTS cache, sorted by host: a line has the host, with a dot before
    /// it where subdomains are included, and the expiry in quotes. Expired entries are left out.
    func text(now: CacheTime) -> String {
        let lines = learned.sorted { $0.key < $1.key }.compactMap { name, entry -> String? in
            if let expires = entry.expires, expires <= now { return nil }
            let time = entry.expires.map(Self.date) ?? Self.unlimited
            return "\(entry.includesSubdomains ? "." : "")\(name) \"\(time)\"\n"
        }
        return "# HSTS cache in the format of curl: https://curl.se/docs/hsts.html\n" + lines.joined()
    }

    /// The lines of a text.
    struct Lines: Sendable {
        var entries: [(host: String, entry: Entry)] = []
        /// How many lines could not be read. Empty lines and comments do not count. A line of more than 512 bytes
        /// counts.
        var badCount = 0

        init(_ text: String) {
            for line in text.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
                guard line.count <= 512 else {
                    badCount += 1
                    continue
                }
                let line = FieldTokens.trimmed(Substring(line))
                if line.isEmpty || line.hasPrefix("#") { continue }
                if let entry = HSTSTable.entry(line) { entries.append(entry) } else { badCount += 1 }
            }
        }
    }

    /// Adds the entries of a text. Expired entries are left out.
    mutating func linesRead(_ lines: Lines, now: CacheTime) {
        for line in lines.entries { _ = entryRead(line.host, line.entry, now: now) }
    }

    fileprivate static func entry(_ line: String) -> (host: String, entry: Entry)? {
        guard let blank = line.utf8.firstIndex(where: FieldTokens.isBlank) else { return nil }
        var host = line[..<blank]
        let includesSubdomains = host.hasPrefix(".")
        if includesSubdomains { host = host.dropFirst() }
        var time = FieldTokens.trimmed(line[blank...])[...]
        guard time.utf8.count >= 2, time.hasPrefix("\""), time.hasSuffix("\""), name(String(host)) != nil else {
            return nil
        }
        time = time.dropFirst().dropLast()
        if time == unlimited { return (String(host), Entry(expires: nil, includesSubdomains: includesSubdomains)) }
        guard let expires = self.time(time) else { return nil }
        return (String(host), Entry(expires: expires, includesSubdomains: includesSubdomains))
    }

    /// `20261125 15:33:08` in GMT.
    private static func date(_ time: CacheTime) -> String {
        // Sun, 06 Nov 1994 08:49:37 GMT
        let words = HTTPDate.text(time).split(separator: " ")
        guard words.count == 6, let month = months.firstIndex(of: String(words[2])) else { return unlimited }
        return "\(words[3])\(month < 9 ? "0" : "")\(month + 1)\(words[1]) \(words[4])"
    }

    private static func time(_ text: Substring) -> CacheTime? {
        let bytes = Array(text.utf8)
        guard bytes.count == 17, bytes[..<8].allSatisfy({ (0x30...0x39).contains($0) }), bytes[8] == 0x20 else {
            return nil
        }
        let part = { (range: Range<Int>) in String(decoding: bytes[range], as: UTF8.self) }
        guard let month = Int(part(4..<6)), (1...12).contains(month) else { return nil }
        return HTTPDate.fixed("Sun, \(part(6..<8)) \(months[month - 1]) \(part(0..<4)) \(part(9..<17)) GMT")
    }
}
