public import HTTPTypes

/// What a response says about the server's rate limits.
///
/// Reads `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers, in the syntax of RFC 9651), the
/// three fields of earlier drafts (`RateLimit-Limit`, `-Remaining`, `-Reset`), the `X-RateLimit-*` fields, and
/// `Retry-After`. A field that is malformed is ignored. A value: any thread.
public struct ServerRateLimit: Sendable, Hashable {
    /// A quota that the server announces (`RateLimit-Policy`).
    public struct Policy: Sendable, Hashable {
        /// The policy's name.
        public let name: String
        /// The units that a window has (`q`).
        public let quota: Int64
        /// What is counted (`qu`); `requests` by default.
        public let unit: String
        /// The length of the window (`w`); `nil`: not announced.
        public let window: Duration?
    }

    /// The state of a quota (`RateLimit`).
    public struct Remaining: Sendable, Hashable {
        /// The policy's name; `legacy` for the other fields.
        public let name: String
        /// The units that are left (`r`).
        public let count: Int64
        /// The time until the quota is available again (`t`); `nil`: not announced.
        public let reset: Duration?
    }

    /// The announced quotas.
    public let policies: [Policy]
    /// The states of the quotas.
    public let remaining: [Remaining]
    /// `Retry-After` of a response with a status from 400; `nil` with other statuses.
    public let retryAfter: Duration?

    /// Reads the fields of a response. `date`: the wall clock in seconds since 1970; it is used for a reset that is a
    /// point of time in a response without a `Date`.
    public init(_ fields: HTTPFields, status: Int, date: Int64) {
        var values: [String: [String]] = [:]
        for field in fields where Self.names.contains(field.name.canonicalName) {
            values[field.name.canonicalName, default: []].append(field.value)
        }
        policies = Self.policies(values["ratelimit-policy"] ?? [])
        let states = Self.states(values["ratelimit"] ?? [])
        let serverTime = fields[.date].flatMap { HTTPDate.fixed($0) }.map { $0.milliseconds / 1000 } ?? date
        remaining = states.isEmpty ? Self.legacy(values, serverTime: serverTime) : states
        retryAfter = status >= 400 ? fields.retryAfter : nil
    }

    /// How long the server wants no requests: `Retry-After` if there is one. Otherwise this is the longest reset of the
    /// quotas that are used up; for a quota without a reset, the window of its policy counts. Zero: no pause. A quota
    /// of concurrent requests causes none.
    public var pause: Duration {
        if let retryAfter { return retryAfter.clampedWait }
        var longest = Duration.zero
        for state in remaining where state.count == 0 {
            let policy = policies.first { $0.name == state.name }
            guard policy?.unit != "concurrent-requests" else { continue }
            longest = max(longest, state.reset ?? policy?.window ?? .zero)
        }
        return longest.clampedWait
    }

    private static let names: Set<String> = Set(
        ["", "x-"].flatMap { prefix in
            ["ratelimit", "ratelimit-policy", "ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"]
                .map { prefix + $0 }
        })

    private static func policies(_ values: [String]) -> [Policy] {
        guard let list = StructuredList(values) else { return [] }
        return list.items.compactMap { item in
            guard let name = name(item), let quota = item.count("q") else { return nil }
            let unit = if case .string(let unit)? = item.parameters["qu"] { unit } else { "requests" }
            return Policy(name: name, quota: quota, unit: unit, window: item.count("w").map(span))
        }
    }

    private static func states(_ values: [String]) -> [Remaining] {
        guard let list = StructuredList(values) else { return [] }
        return list.items.compactMap { item in
            guard let name = name(item), let count = item.count("r") else { return nil }
            return Remaining(name: name, count: count, reset: item.count("t").map(span))
        }
    }

    /// The draft demands strings; tokens occur as well.
    private static func name(_ item: StructuredList.Item) -> String? {
        switch item.value {
        case .string(let name), .token(let name): name
        default: nil
        }
    }

    private static func legacy(_ values: [String: [String]], serverTime: Int64) -> [Remaining] {
        for prefix in ["ratelimit", "x-ratelimit"] {
            guard let count = number(values["\(prefix)-remaining"]) else { continue }
            let reset = number(values["\(prefix)-reset"]).map { span(delay(until: $0, serverTime: serverTime)) }
            return [Remaining(name: "legacy", count: count, reset: reset)]
        }
        return []
    }

    /// A reset is a number of seconds from now, or a Unix time in seconds or in milliseconds. Numbers from 10^9 on are
    /// times: as a delay they would be 31 years.
    private static func delay(until reset: Int64, serverTime: Int64) -> Int64 {
        if reset < 1_000_000_000 { return reset }
        let seconds = reset >= 100_000_000_000 ? reset / 1000 : reset
        let (delay, overflow) = seconds.subtractingReportingOverflow(serverTime)
        return overflow ? 0 : max(0, delay)
    }

    /// A number from 0, or the first of `100, 100;w=60`. A fraction counts up.
    private static func number(_ values: [String]?) -> Int64? {
        guard let value = values?.first else { return nil }
        var scanner = FieldScanner(value)
        scanner.skipBlanks()
        guard let digits = scanner.text(while: { (0x30...0x39).contains($0) }) else { return nil }
        let number = Int64(digits) ?? .max
        var hasFraction = false
        if scanner.take(".") {
            guard let part = scanner.text(while: { (0x30...0x39).contains($0) }) else { return nil }
            hasFraction = part.utf8.contains { $0 != 0x30 }
        }
        scanner.skipBlanks()
        guard scanner.isAtEnd || scanner.isNext(",") || scanner.isNext(";") else { return nil }
        return hasFraction && number < .max ? number + 1 : number
    }

    private static func span(_ seconds: Int64) -> Duration {
        .seconds(seconds.clamped(0...1 << 31))
    }
}
