import Testing

@testable import ErrandResilience

@Suite struct AddressGuardTests {
    private func answer(_ subject: AddressGuard, _ text: String, _ port: UInt16 = 443) -> String {
        let groups = 8 - text.split(separator: ":").count
        let text = text.hasSuffix("~") ? String(text.dropLast()) + String(repeating: ":ffff", count: groups) : text
        guard let address = IPAddress(text) else { return "no address" }
        switch subject.verdict(for: address, port: port) {
        case .allowed(let rule): return rule ?? "allowed"
        case .refused(let rule): return "no: \(rule)"
        }
    }

    /// The special range, its first and last address, and the addresses just outside with the answer for each. `~`
    /// stands for groups of `ffff` up to the end.
    private static let edges = """
        this network|0.0.0.0|0.255.255.255|-|1.0.0.0=allowed
        private|10.0.0.0|10.255.255.255|9.255.255.255=allowed|11.0.0.0=allowed
        carrier-grade NAT|100.64.0.0|100.127.255.255|100.63.255.255=allowed|100.128.0.0=allowed
        metadata|100.100.100.200|100.100.100.200|100.100.100.199=carrier-grade NAT|100.100.100.201=carrier-grade NAT
        loopback|127.0.0.0|127.255.255.255|126.255.255.255=allowed|128.0.0.0=allowed
        metadata|168.63.129.16|168.63.129.16|168.63.129.15=allowed|168.63.129.17=allowed
        link-local|169.254.0.0|169.254.255.255|169.253.255.255=allowed|169.255.0.0=allowed
        metadata|169.254.169.254|169.254.169.254|169.254.169.253=link-local|169.254.169.255=link-local
        private|172.16.0.0|172.31.255.255|172.15.255.255=allowed|172.32.0.0=allowed
        protocol assignments|192.0.0.0|192.0.0.255|191.255.255.255=allowed|192.0.1.0=allowed
        documentation|192.0.2.0|192.0.2.255|192.0.1.255=allowed|192.0.3.0=allowed
        6to4 relay|192.88.99.0|192.88.99.255|192.88.98.255=allowed|192.88.100.0=allowed
        private|192.168.0.0|192.168.255.255|192.167.255.255=allowed|192.169.0.0=allowed
        benchmarking|198.18.0.0|198.19.255.255|198.17.255.255=allowed|198.20.0.0=allowed
        documentation|198.51.100.0|198.51.100.255|198.51.99.255=allowed|198.51.101.0=allowed
        documentation|203.0.113.0|203.0.113.255|203.0.112.255=allowed|203.0.114.0=allowed
        multicast|224.0.0.0|239.255.255.255|223.255.255.255=allowed|240.0.0.0=reserved
        reserved|240.0.0.0|255.255.255.254|239.255.255.255=multicast|255.255.255.255=broadcast
        unspecified|::|::|-|::1=loopback
        loopback|::1|::1|::=unspecified|::2=IPv4-compatible
        IPv4-compatible|::2|::ffff:ffff|::1=loopback|::1:0:0=unassigned
        IPv4-mapped|::ffff:0:0|::ffff:ffff:ffff|::fffe:ffff:ffff=unassigned|::1:0:0:0=unassigned
        IPv4-translated|::ffff:0:0:0|::ffff:0:ffff:ffff|::fffe:ffff:ffff:ffff=unassigned|::ffff:1:0:0=unassigned
        NAT64|64:ff9b::|64:ff9b::ffff:ffff|64:ff9a~=unassigned|64:ff9b::1:0:0=unassigned
        local NAT64|64:ff9b:1::|64:ff9b:1~|64:ff9b:0~=unassigned|64:ff9b:2::=unassigned
        discard|100::|100::ffff:ffff:ffff:ffff|ff~=unassigned|100:0:0:1::=dummy
        dummy|100:0:0:1::|100:0:0:1~|100::ffff:ffff:ffff:ffff=discard|100:0:0:2::=unassigned
        unassigned|200::|1fff~|-|2000::=allowed
        Teredo|2001::|2001:0~|2000~=allowed|2001:1::=protocol assignments
        benchmarking|2001:2::|2001:2:0~|2001:1~=protocol assignments|2001:2:1::=protocol assignments
        ORCHID|2001:10::|2001:2f~|2001:f~=protocol assignments|2001:30::=protocol assignments
        protocol assignments|2001:30::|2001:1ff~|2001:2f~=ORCHID|2001:200::=allowed
        documentation|2001:db8::|2001:db8~|2001:db7~=allowed|2001:db9::=allowed
        6to4|2002::|2002~|2001~=allowed|2003::=allowed
        documentation|3fff::|3fff:fff~|3ffe~=allowed|3fff:1000::=allowed
        unassigned|4000::|5eff~|3fff:ffff::=allowed|5f00::=segment routing
        segment routing|5f00::|5f00~|5eff~=unassigned|5f01::=unassigned
        unique local|fc00::|fdff~|fbff~=unassigned|fe00::=unassigned
        metadata|fd00:ec2::254|fd00:ec2::254|fd00:ec2::253=unique local|fd00:ec2::255=unique local
        link-local|fe80::|febf~|fe7f~=unassigned|fec0::=site-local
        site-local|fec0::|feff~|febf~=link-local|ff00::=multicast
        multicast|ff00::|ffff~|feff~=site-local|-
        """

    @Test func everySpecialRangeHasItsEdges() {
        var names: Set<String> = []
        for line in Self.edges.split(separator: "\n") {
            let parts = line.split(separator: "|").map(String.init)
            names.insert(parts[0])
            for address in parts[1...2] { #expect(answer(AddressGuard(), address) == "no: \(parts[0])", "\(address)") }
            for outside in parts[3...4] where outside != "-" {
                let pair = outside.split(separator: "=").map(String.init)
                let expected = pair[1] == "allowed" ? "allowed" : "no: \(pair[1])"
                #expect(answer(AddressGuard(), pair[0]) == expected, "\(pair[0])")
            }
        }
        // The table leaves out no name.
        #expect(Set(AddressGuard.specialRanges.map(\.name)).subtracting(names) == ["broadcast"])
        #expect(answer(AddressGuard(), "255.255.255.255") == "no: broadcast")
    }

    @Test(arguments: [
        "1.1.1.1", "8.8.8.8", "93.184.216.34", "2606:4700::1111", "2a00:1450:4001::1", "2001:4860:4860::8888",
    ])
    func publicAddresses(_ text: String) {
        #expect(answer(AddressGuard(), text) == "allowed")
        #expect(answer(AddressGuard(), text, 0) == "allowed")
    }

    @Test func theLongestPrefixDecides() throws {
        let subject = AddressGuard(rules: [
            try .allow("10.1.0.0/16"), try .deny("10.1.2.0/24"), try .allow("10.1.2.9"), try .deny("8.8.0.0/16"),
            try .allow("0.0.0.0/0"), try .allow("fd00::/8"),
        ])
        #expect(answer(subject, "10.0.0.1") == "no: private")
        #expect(answer(subject, "10.1.0.1") == "allow 10.1.0.0/16")
        #expect(answer(subject, "10.1.2.1") == "no: deny 10.1.2.0/24")
        #expect(answer(subject, "10.1.2.9") == "allow 10.1.2.9/32")
        #expect(answer(subject, "8.8.8.8") == "no: deny 8.8.0.0/16")
        #expect(answer(subject, "9.9.9.9") == "allow 0.0.0.0/0")
        #expect(answer(subject, "127.0.0.1") == "no: loopback")
        #expect(answer(subject, "fd00::1") == "allow fd00::/8")
        // The metadata service has a longer prefix.
        #expect(answer(subject, "fd00:ec2::254") == "no: metadata")
    }

    @Test func rangesOfEqualLength() throws {
        let allow = try AddressGuard.Rule.allow("10.0.0.0/8")
        let deny = try AddressGuard.Rule.deny("10.0.0.0/8")
        #expect(answer(AddressGuard(rules: [allow]), "10.0.0.1") == "allow 10.0.0.0/8")
        #expect(answer(AddressGuard(rules: [allow, deny]), "10.0.0.1") == "no: deny 10.0.0.0/8")
        #expect(answer(AddressGuard(rules: [deny, allow]), "10.0.0.1") == "no: deny 10.0.0.0/8")
    }

    /// Who opens NAT64 for a network without IPv4 does not open the private addresses behind.
    @Test(arguments: [
        ("::ffff:0:0/96", "::ffff:10.0.0.1", "private"), ("64:ff9b::/96", "64:ff9b::169.254.169.254", "metadata"),
        ("::ffff:0:0:0/96", "::ffff:0:127.0.0.1", "loopback"), ("::/96", "::10.0.0.1", "private"),
        ("2002::/16", "2002:7f00:1::", "loopback"), ("2001::/32", "2001:0:a00:1:0:0:f7f7:f7f7", "private"),
        // The client of Teredo has inverted bits: 127.0.0.1.
        ("2001::/32", "2001:0:808:808::80ff:fffe", "loopback"),
        // The prefixes of 96, 48, 56 and 64 bits that a network may choose, with 10.1.2.3.
        ("64:ff9b:1::/48", "64:ff9b:1::10.1.2.3", "private"), ("64:ff9b:1::/48", "64:ff9b:1:a01:2:300::", "private"),
        ("64:ff9b:1::/48", "64:ff9b:1:aa0a:1:203::", "private"),
        ("64:ff9b:1::/48", "64:ff9b:1:aaaa:a:102:300::", "private"),
        ("64:ff9b:1::/48", "64:ff9b:1:ffff:1:2:7f00:1", "reserved"), ("64:ff9b:1::/48", "64:ff9b:1::", "this network"),
    ])
    func embeddedAddressesAreJudgedToo(_ range: String, _ address: String, _ rule: String) throws {
        let opened = try AddressGuard.Rule.allow(range)
        #expect(answer(AddressGuard(rules: [opened]), address) == "no: \(rule)")
    }

    @Test(arguments: [
        ("::ffff:0:0/96", "::ffff:8.8.8.8"), ("64:ff9b::/96", "64:ff9b::8.8.8.8"), ("2002::/16", "2002:808:808::"),
        ("2001::/32", "2001:0:808:808:0:0:f7f7:f7f7"), ("::1/128", "::1"), ("::/128", "::"),
        ("64:ff9b:1::/48", "64:ff9b:1::8.8.8.8"), ("64:ff9b:1::/48", "64:ff9b:1:808:8:800::"),
        ("64:ff9b:1::/48", "64:ff9b:1:aa08:8:808::"), ("64:ff9b:1::/48", "64:ff9b:1:aaaa:8:808:800::"),
    ])
    func anAllowedMechanism(_ range: String, _ address: String) throws {
        let opened = try AddressGuard.Rule.allow(range)
        #expect(answer(AddressGuard(rules: [opened]), address).hasPrefix("allow "))
    }

    @Test func anOwnDenyReachesMappedAddresses() throws {
        let subject = AddressGuard(rules: [try .deny("8.8.8.0/24")], refusesSpecialRanges: false)
        #expect(answer(subject, "::ffff:8.8.8.8") == "no: deny 8.8.8.0/24")
        #expect(answer(subject, "::ffff:8.8.9.8") == "allowed")
        #expect(answer(subject, "127.0.0.1") == "allowed")
    }

    @Test func ports() throws {
        let subject = AddressGuard(
            rules: [
                try .allow("10.0.0.1", ports: 8080...8081), try .allow("10.0.0.2"),
                try .deny("8.8.8.8", ports: 443...443),
            ],
            ports: [80...80, 443...443])
        #expect(answer(subject, "1.1.1.1", 80) == "allowed")
        #expect(answer(subject, "1.1.1.1", 81) == "no: port")
        #expect(answer(subject, "10.0.0.1", 8080) == "allow 10.0.0.1/32 ports 8080-8081")
        #expect(answer(subject, "10.0.0.1", 8082) == "no: private")
        #expect(answer(subject, "10.0.0.1", 443) == "no: private")
        #expect(answer(subject, "10.0.0.2", 443) == "allow 10.0.0.2/32")
        #expect(answer(subject, "10.0.0.2", 444) == "no: port")
        #expect(answer(subject, "8.8.8.8", 443) == "no: deny 8.8.8.8/32 ports 443-443")
        #expect(answer(subject, "8.8.8.8", 80) == "allowed")
    }

    private func refusal(
        _ filter: AddressGuardFilter, _ address: [UInt8], port: UInt16 = 80, isOpen: Bool = false
    ) -> String? {
        address.withUnsafeBytes { filter.refusal(of: $0, port: port, isOpen: isOpen) }
    }

    /// Special ranges, own rules, a closed port and an unreadable address have a counter each.
    @Test(arguments: [false, true]) func everyRuleIsCounted(isDryRun: Bool) throws {
        let subject = AddressGuard(
            rules: [
                try .deny("8.8.8.0/24"), try .deny("8.8.8.0/24"), try .deny("9.9.9.9", ports: 80...81),
                try .allow("::ffff:0:0/96"),
            ],
            ports: [80...80], isDryRun: isDryRun)
        let filter = AddressGuardFilter(subject)
        var expected: [String: Int] = [:]
        func ask(_ address: [UInt8], port: UInt16 = 80, _ rule: String) {
            let answer: String? = isDryRun ? nil : rule
            #expect(refusal(filter, address, port: port) == answer, "\(rule)")
            expected[rule, default: 0] += 1
        }
        for special in AddressGuard.specialRanges where special.range.base.family == .v4 {
            let low = special.range.base.low
            let bytes = [24, 16, 8, 0].map { (shift: UInt64) -> UInt8 in UInt8(truncatingIfNeeded: low >> shift) }
            ask(bytes, special.name)
        }
        ask([8, 8, 8, 8], "deny 8.8.8.0/24")
        ask([9, 9, 9, 9], "deny 9.9.9.9/32 ports 80-81")
        ask([9, 9, 9, 8], port: 82, "port")
        ask([], "unreadable address")
        // The rule for the embedded address.
        ask(Array(repeating: 0, count: 10) + [255, 255, 127, 0, 0, 1], "loopback")
        ask(Array(repeating: 0, count: 16), "unspecified")
        #expect(refusal(filter, [1, 1, 1, 1]) == nil)
        #expect(filter.counts.byRule == expected)
        let total = expected.values.reduce(0, +)
        #expect(filter.counts.refused == (isDryRun ? 0 : total))
        #expect(filter.counts.wouldRefuse == (isDryRun ? total : 0))
    }

    /// A request that connects in a dry run is asked about twice.
    @Test func aConnectCountsOnce() {
        let filter = AddressGuardFilter(AddressGuard(isDryRun: true))
        for isOpen in [false, true, false] { #expect(refusal(filter, [127, 0, 0, 1], isOpen: isOpen) == nil) }
        #expect(filter.counts.wouldRefuse == 2)
        let strict = AddressGuardFilter(AddressGuard())
        for isOpen in [false, true, false] { #expect(refusal(strict, [127, 0, 0, 1], isOpen: isOpen) != nil) }
        #expect(strict.counts.refused == 3)
    }

    /// Each engine counts for itself.
    @Test func anotherEngineCountsAnew() throws {
        let filter = AddressGuardFilter(AddressGuard(ports: [443...443], isDryRun: true))
        #expect(refusal(filter, [8, 8, 8, 8]) == nil)
        let other = try #require(filter.forEngine() as? AddressGuardFilter)
        #expect(other.subject == filter.subject && other.counts == AddressGuard.Counts())
        #expect(filter.counts.byRule == ["port": 1])
    }

    /// Loop threads count at the same time.
    @Test func noRefusalIsLost() async {
        let filter = AddressGuardFilter(AddressGuard(isDryRun: true))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let address: [UInt8] = [10, 0, 0, 1]
                    for _ in 0..<500 {
                        _ = address.withUnsafeBytes { filter.refusal(of: $0, port: 80, isOpen: false) }
                    }
                }
            }
        }
        #expect(filter.counts == AddressGuard.Counts(wouldRefuse: 2000, byRule: ["private": 2000]))
    }

    /// The dry run is a part of the guard's value, and changes no verdict.
    @Test func aDryRunChangesNoVerdict() {
        #expect(AddressGuard().isDryRun == false)
        #expect(AddressGuard(isDryRun: true) != AddressGuard())
        #expect(answer(AddressGuard(isDryRun: true), "127.0.0.1") == "no: loopback")
        var configuration = Client.Configuration()
        configuration.addressGuard = AddressGuard()
        configuration.addressGuard?.isDryRun = true
        #expect(configuration.addressGuard == AddressGuard(isDryRun: true))
    }

    /// What the engine asks.
    @Test func theFilterOfAnEngine() {
        let filter = AddressGuardFilter(AddressGuard())
        #expect(refusal(filter, [127, 0, 0, 1]) == "loopback")
        #expect(refusal(filter, [127, 0, 0, 1], isOpen: true) == "loopback")
        #expect(refusal(filter, [8, 8, 8, 8]) == nil)
        #expect(refusal(filter, [0xFE, 0x80] + Array(repeating: 0, count: 14)) == "link-local")
        #expect(refusal(filter, []) == "unreadable address")
        var configuration = Client.Configuration()
        #expect(configuration.addressGuard == nil)
        configuration.addressGuard = AddressGuard(ports: [443...443])
        #expect(configuration.addressGuard == AddressGuard(ports: [443...443]))
        configuration.addressGuard = nil
        #expect(configuration.addressGuard == nil)
    }

    @Test func socketAddresses() {
        let family = { (value: UInt16) in withUnsafeBytes(of: value) { Array($0) } }
        let verdict = { (bytes: [UInt8]) in bytes.withUnsafeBytes { AddressGuard().verdict(forSocketAddress: $0) } }
        #expect(verdict(family(2) + [1, 187, 127, 0, 0, 1] as [UInt8]) == .refused(rule: "loopback"))
        #expect(verdict(family(2) + [1, 187, 8, 8, 8, 8]) == .allowed(rule: nil))
        #expect(verdict(family(1) + Array("/tmp/socket".utf8)) == .refused(rule: "unreadable address"))
        #expect(verdict([]) == .refused(rule: "unreadable address"))
    }
}
