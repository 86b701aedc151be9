extension HSTSTable {
    /// The learned hosts, the next one to forget first.
    ///
    /// The rank of a host is the number of hosts of its site that expire later. The highest rank goes first, so the
    /// largest site loses hosts until it is as large as the next one. Among equal ranks the host that expires first
    /// goes first. A site that sends the field from many subdomains therefore displaces its own hosts.
    ///
    /// There is no list of public suffixes here, so the last two labels of a name stand for its site. All sites below a
    /// suffix of two labels (`co.uk`) share one such site. Within it the ranks by the last three labels decide, so that
    /// one of these sites displaces its own hosts before those of the others.
    var inOrderOfRemoval: [String] {
        var hosts = learned.map { name, entry in
            (name: name, expires: entry.expires ?? CacheTime(milliseconds: .max), rank: 0)
        }
        hosts.sort { ($0.expires, $0.name) > ($1.expires, $1.name) }
        for labels in [3, 2] {
            var sizes: [Substring: Int] = [:]
            for index in hosts.indices {
                let site = Self.lastLabels(labels, of: hosts[index].name)
                hosts[index].rank = sizes[site, default: 0]
                sizes[site, default: 0] += 1
            }
            hosts.sort { ($0.rank, $1.expires, $1.name) < ($1.rank, $0.expires, $0.name) }
        }
        return hosts.reversed().map { $0.name }
    }

    /// The last labels of a name, or the whole name where it has no more.
    private static func lastLabels(_ count: Int, of name: String) -> Substring {
        var left = count
        for index in name.utf8.indices.reversed() where name.utf8[index] == UInt8(ascii: ".") {
            left -= 1
            if left == 0 { return name[name.utf8.index(after: index)...] }
        }
        return name[...]
    }
}
