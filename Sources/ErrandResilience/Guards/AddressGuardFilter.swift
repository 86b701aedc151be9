import Synchronization

/// The guard of an engine, with its counts. Any thread. The engine asks on its loop threads, so there is no lock.
final class AddressGuardFilter: AddressFilter {
    /// How often a rule has refused.
    private final class Counter: Sendable {
        private let count = Atomic<Int>(0)

        var value: Int { count.load(ordering: .relaxed) }

        func add() { count.wrappingAdd(1, ordering: .relaxed) }
    }

    let subject: AddressGuard
    /// One for each name that a refusal can have.
    private let counters: [String: Counter]

    /// For settings, which count nothing: an engine makes its own by ``forEngine()``.
    init(template subject: AddressGuard) {
        self.subject = subject
        counters = [:]
    }

    init(_ subject: AddressGuard) {
        self.subject = subject
        var counters = [
            AddressGuard.closedPort: Counter(), AddressGuard.unreadable: Counter(),
            AddressGuard.proxiedName: Counter(),
        ]
        for special in AddressGuard.specialRanges { counters[special.name] = Counter() }
        for rule in subject.rules where !rule.allows { counters[rule.name] = Counter() }
        self.counters = counters
    }

    func forEngine() -> any AddressFilter { AddressGuardFilter(subject) }

    var rules: String? { subject.text }

    var object: AnyObject? { self }

    func judges(as other: any AddressFilter) -> Bool { (other as? AddressGuardFilter)?.subject == subject }

    func refusal(of address: UnsafeRawBufferPointer, port: UInt16, isOpen: Bool) -> String? {
        guard let rule = ruleAgainst(address, port: port) else { return nil }
        guard subject.isDryRun else {
            counters[rule]?.add()
            return rule
        }
        // Such a request was counted before it connected. A guard that refuses would not have let it get here.
        if !isOpen { counters[rule]?.add() }
        return nil
    }

    func refusal(ofProxied host: String, port: UInt16, isBypassed: Bool) -> String? {
        guard case .refused(let rule) = subject.verdict(forProxied: host, port: port, isBypassed: isBypassed) else {
            return nil
        }
        // In a dry run the engine asks again where the host is reached without the proxy.
        if !subject.isDryRun || !isBypassed { counters[rule]?.add() }
        return subject.isDryRun ? nil : rule
    }

    /// The name of the rule that refuses the address.
    private func ruleAgainst(_ address: UnsafeRawBufferPointer, port: UInt16) -> String? {
        guard let address = IPAddress(bytes: address) else { return AddressGuard.unreadable }
        guard case .refused(let rule) = subject.verdict(for: address, port: port) else { return nil }
        return rule
    }

    /// The counters are read one after the other while requests run.
    var counts: AddressGuard.Counts {
        let byRule = counters.mapValues { $0.value }.filter { $0.value > 0 }
        let total = byRule.values.reduce(0) { $0 &+ $1 }
        return AddressGuard.Counts(
            refused: subject.isDryRun ? 0 : total, wouldRefuse: subject.isDryRun ? total : 0, byRule: byRule)
    }
}

/// Filters of equal guards judge in the same way: clients of a shared engine may have either.
extension AddressGuardFilter: Hashable {
    static func == (one: AddressGuardFilter, other: AddressGuardFilter) -> Bool { one.subject == other.subject }

    func hash(into hasher: inout Hasher) { hasher.combine(subject) }
}
