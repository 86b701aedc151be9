import Errand

/// Addresses that must not be reached, HSTS, and alternative services.
extension ConfigurationValues {
    func readGuards(_ configuration: inout Client.Configuration) {
        configuration.addressGuard = addressGuard(over: configuration.addressGuard)
        configuration.hsts = hsts(over: configuration.hsts)
        let program = configuration.altServices
        let capacity = count("altServices.capacity")
        guard isOn("altServices", by: program != nil) else {
            configuration.altServices = nil
            return
        }
        // A cache of the program may be shared with other clients, and may already know services.
        if case .value(let capacity) = capacity {
            configuration.altServices = AltServiceCache(capacity: capacity)
        } else if program == nil {
            configuration.altServices = AltServiceCache()
        }
    }

    private func addressGuard(over program: AddressGuard?) -> AddressGuard? {
        var made = program ?? AddressGuard()
        let allowed = rules("addressGuard.allow", allows: true)
        let denied = rules("addressGuard.deny", allows: false)
        made.rules = replaced(made.rules, by: allowed, allows: true)
        made.rules = replaced(made.rules, by: denied, allows: false)
        let ports: Given<[ClosedRange<UInt16>]> = list(
            "addressGuard.ports", of: "a port such as 443 or a range such as 8000-8999"
        ) { self.ports($0) }
        made.ports = ports.or(made.ports, none: [])
        made.refusesSpecialRanges = flag("addressGuard.refusesSpecialRanges").or(made.refusesSpecialRanges)
        made.isDryRun = flag("addressGuard.isDryRun").or(made.isDryRun)
        let names: KeyValuePairs<String, AddressGuard.ProxiedNames> = ["allow": .allow, "refuse": .refuse]
        made.proxiedNames = choice("addressGuard.proxiedNames", names).or(made.proxiedNames)
        return isOn("addressGuard", by: program != nil) ? made : nil
    }

    private func replaced(
        _ rules: [AddressGuard.Rule], by given: Given<[AddressGuard.Rule]>, allows: Bool
    ) -> [AddressGuard.Rule] {
        if case .absent = given { return rules }
        return rules.filter { $0.allows != allows } + given.or([], none: [])
    }

    /// `10.1.0.0/16`, or `10.1.0.0/16 ports 443-443`.
    private func rules(_ name: String, allows: Bool) -> Given<[AddressGuard.Rule]> {
        list(name, of: "a range such as 10.1.0.0/16, or one with ports: 10.1.0.0/16 ports 443-443") { text in
            let words = text.split(separator: " ").map(String.init)
            guard words.count == 1 || words.count == 3 && words[1] == "ports", let first = words.first,
                let range = try? AddressRange(first)
            else { return nil }
            if words.count == 1 { return AddressGuard.Rule(range: range, allows: allows) }
            return self.ports(words[2]).map { AddressGuard.Rule(range: range, ports: $0, allows: allows) }
        }
    }

    private func ports(_ text: String) -> ClosedRange<UInt16>? {
        range(text, within: 0...65_535).map { UInt16($0.lowerBound)...UInt16($0.upperBound) }
    }

    private func hsts(over program: HSTSStore?) -> HSTSStore? {
        let file = text("hsts.file").orNil(nil)
        let given: Given<[HSTSStore.Preload]> = list("hsts.preloads", of: "a host such as example.com or .example.com")
        {
            let isDomain = $0.hasPrefix(".")
            let preload = HSTSStore.Preload(isDomain ? String($0.dropFirst()) : $0, includesSubdomains: isDomain)
            // A store ignores texts that are no host names.
            return HSTSStore(preloads: [preload]).isKnown(preload.host) ? preload : nil
        }
        let preloads = given.or([], none: [])
        let capacity = count("hsts.capacity").or(10_000)
        guard isOn("hsts", by: program != nil) else { return nil }
        // A store of the program may be shared with other clients, and may already know hosts.
        if let program, file == nil, !isSet("hsts.preloads"), !isSet("hsts.capacity") { return program }
        let store = HSTSStore(preloads: preloads, capacity: capacity)
        if let file, startsClient {
            do throws(ErrandError) {
                try store.load(from: file)
            } catch {
                fail("hsts.file", error.message)
            }
        }
        return store
    }
}
