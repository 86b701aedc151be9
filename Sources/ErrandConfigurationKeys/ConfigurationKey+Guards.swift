extension ConfigurationKey {
    /// Addresses that must not be reached, HSTS, and alternative services.
    static let guards: [ConfigurationKey] = [
        .init("addressGuard.enabled", .flag, "false", "Whether the addresses of connections are judged (SSRF)."),
        .init(
            "addressGuard.allow", .list, "none",
            "Ranges that are allowed: 10.1.0.0/16, or with ports: 10.1.0.0/16 ports 443-443.", orNone: true),
        .init(
            "addressGuard.deny", .list, "none", "Ranges that are refused, in the same form.", orNone: true),
        .init(
            "addressGuard.ports", .list, "none", "The only ports that are allowed: 443, 8000-8999; none: all.",
            orNone: true),
        .init("addressGuard.refusesSpecialRanges", .flag, "true", "Whether private and other ranges are refused."),
        .init("addressGuard.isDryRun", .flag, "false", "Whether the guard only counts what it would refuse."),
        .init(
            "addressGuard.proxiedNames", .choice(["allow", "refuse"]), "allow",
            "Whether a proxy, which has to judge the addresses, may be asked for host names."),
        .init("hsts.enabled", .flag, "false", "Whether hosts that ask for it are reached by https alone (RFC 6797)."),
        .init("hsts.file", .text, "none", "A file of such hosts, read at the start.", orNone: true),
        .init(
            "hsts.preloads", .list, "none",
            "Hosts that are known from the start; .example.com includes its subdomains, example.com does not.",
            orNone: true),
        .init("hsts.capacity", .count, "10000", "How many hosts are learned.", in: 1...1_048_576),
        .init("altServices.enabled", .flag, "false", "Whether alternative services are used (RFC 7838)."),
        .init("altServices.capacity", .count, "1024", "The origins that are remembered.", in: million),
    ]

    /// The servers that are used for the base URL.
    static let endpoints: [ConfigurationKey] = [
        .init(
            "endpoints.source", .choice(["none", "list", "dns"]), "none",
            "Where the servers for baseURL come from: endpoints.list, or the addresses of its host."),
        .init(
            "endpoints.list", .list, "not set",
            "URLs or addresses of servers, also with a weight and a zone: https://a.test weight=2 zone=eu-1."),
        .init("endpoints.refresh", .duration, "30s", "How often the name is looked up.", in: 0.1...86_400),
        .init("endpoints.timeout", .duration, "10s", "How long a look-up may take.", in: 0.1...86_400),
        .init(
            "endpoints.balancing", .choice(["powerOfTwo", "roundRobin", "ringHash"]), "powerOfTwo",
            "How a server is chosen."),
        .init(
            "endpoints.panicThreshold", .number, "0.5", "Where a smaller share is healthy, health is ignored.",
            in: share),
        .init("endpoints.zone", .text, "none", "The preferred zone.", orNone: true),
        .init(
            "endpoints.zoneHealthyShare", .number, "0.7", "The share of that zone that must be healthy.", in: share),
        .init(
            "endpoints.ewma.decay", .duration, "10s", "In which time an old latency loses two thirds of its weight.",
            in: 0.001...86_400),
        .init(
            "endpoints.ewma.assumed", .duration, "30ms", "The latency of a server without a sample.",
            in: 0.000_001...86_400),
        .init("endpoints.ewma.failurePenalty", .duration, "1s", "The latency of a failure.", in: 0...86_400),
        .init(
            "endpoints.ewma.throttlePenalty", .duration, "5s",
            "The latency of a response that asks for fewer requests.", in: 0...86_400),
        .init(
            "endpoints.ewma.longestRetryAfter", .duration, "60s",
            "The longest Retry-After that counts as a latency; 0: it is ignored.", in: 0...86_400),
        .init("endpoints.ring.size", .count, "1024", "The points of the ring.", in: 1...65_536),
        .init(
            "endpoints.ring.loadBound", .number, "1.25", "How much of its fair share a server may have.", in: 1...1000,
            orNone: true),
        .init("endpoints.outliers.enabled", .flag, "true", "Whether servers that fail are ejected."),
        .init(
            "endpoints.outliers.consecutiveFailures", .count, "5", "The failures in a row that eject; 0: never.",
            in: 0...1_000_000),
        .init(
            "endpoints.outliers.stallTime", .duration, "1s",
            "Without a success for this time, an overtaken attempt is a failure.", in: 0...86_400),
        .init("endpoints.outliers.interval", .duration, "10s", "The time between comparisons.", in: 0.1...86_400),
        .init(
            "endpoints.outliers.baseEjection", .duration, "30s", "The length of a first ejection.", in: 0.001...86_400),
        .init(
            "endpoints.outliers.longestEjection", .duration, "5m", "The longest ejection.", in: 0.001...86_400),
        .init("endpoints.outliers.jitter", .number, "0.1", "The share that is added at random.", in: share),
        .init("endpoints.outliers.largestShare", .number, "0.5", "The largest share that is ejected.", in: share),
        .init("endpoints.outliers.isDryRun", .flag, "false", "Whether ejections are only counted."),
        .init("endpoints.successRate.enabled", .flag, "true", "Whether success rates are compared."),
        .init(
            "endpoints.successRate.factor", .number, "1.9", "The standard deviations below the mean that eject.",
            in: 0...100),
        .init(
            "endpoints.successRate.minimumEndpoints", .count, "5", "The servers that a comparison needs.",
            in: 2...1_000_000),
        .init(
            "endpoints.successRate.minimumRequests", .count, "100",
            "The requests of an interval that a server needs.", in: million),
    ]
}
