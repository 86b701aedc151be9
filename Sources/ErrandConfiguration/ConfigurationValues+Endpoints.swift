import Errand

/// The servers that are used for the base URL.
extension ConfigurationValues {
    /// The policy of the program's endpoints for the same base URL is the base: a key changes one member of it.
    func readEndpoints(_ configuration: inout Client.Configuration) {
        enum Kind { case none, list, dns }
        let given = choice("endpoints.source", ["none": Kind.none, "list": Kind.list, "dns": Kind.dns])
        let endpoints: Given<[Endpoint]> = list(
            "endpoints.list", of: "a server such as https://a.test, or https://a.test weight=2 zone=eu-1"
        ) { self.endpoint($0) }
        let refresh = duration("endpoints.refresh").or(.seconds(30))
        let timeout = duration("endpoints.timeout").or(.seconds(10))
        let baseURL = configuration.settings.baseURL ?? ""
        let origin = (try? Endpoint(baseURL))?.url
        let program = configuration.endpoints.first { $0.origin == origin }
        let policy = endpointPolicy(over: program?.policy ?? EndpointPolicy())
        let source: EndpointSource
        switch given {
        case .value(.none):
            configuration.endpoints.removeAll { $0.origin == origin }
            return
        case .value(.dns):
            refuse(["endpoints.list"], "is set, and endpoints.source is dns")
            source = .dns(every: refresh, timeout: timeout)
        case .value(.list):
            refuse(["endpoints.refresh", "endpoints.timeout"], "is set, and endpoints.source is list")
            guard case .value(let list) = endpoints else {
                fail("endpoints.list", "has no servers, and endpoints.source is list")
                return
            }
            source = .list(list)
        case .absent, .none:
            guard hasPart("endpoints") else { return }
            guard let program else {
                fail("endpoints.source", "is missing: other keys of endpoints are set")
                return
            }
            refuse(
                ["endpoints.list", "endpoints.refresh", "endpoints.timeout"], "is set, and endpoints.source is not")
            source = program.source
        }
        guard origin != nil else {
            fail("endpoints.source", "needs a baseURL, for which the servers stand")
            return
        }
        do throws(ErrandError) {
            let made = try ServiceEndpoints(of: baseURL, source, policy: policy, key: program?.key)
            configuration.endpoints = configuration.endpoints.filter { $0.origin != origin } + [made]
        } catch {
            fail("endpoints.source", error.message)
        }
    }

    /// `https://a.test weight=2 zone=eu-1`; an address has no scheme.
    private func endpoint(_ text: String) -> Endpoint? {
        let words = text.split(separator: " ").map(String.init)
        guard let place = words.first else { return nil }
        var weight = 1
        var zone: String?
        for word in words.dropFirst() {
            if word.hasPrefix("zone="), word.count > 5 {
                zone = String(word.dropFirst(5))
            } else if word.hasPrefix("weight="), let count = ConfigurationText.count(String(word.dropFirst(7))),
                (1...1000).contains(count)
            {
                weight = count
            } else {
                return nil
            }
        }
        guard place.contains("://") else { return try? Endpoint(address: place, weight: weight, zone: zone) }
        return try? Endpoint(place, weight: weight, zone: zone)
    }

    private func endpointPolicy(over base: EndpointPolicy) -> EndpointPolicy {
        let zone = text("endpoints.zone").orNil(base.zonePreference?.zone)
        let healthyShare = number("endpoints.zoneHealthyShare").or(base.zonePreference?.healthyShare ?? 0.7)
        if zone == nil, !isSet("endpoints.zone") {
            refuse(["endpoints.zoneHealthyShare"], "is set, and endpoints.zone is not")
        }
        return EndpointPolicy(
            balancing(over: base.balancing), outliers: outliers(over: base.outliers),
            panicThreshold: number("endpoints.panicThreshold").or(base.panicThreshold),
            zonePreference: zone.map { EndpointPolicy.ZonePreference($0, healthyShare: healthyShare) })
    }

    private func balancing(over base: EndpointPolicy.Balancing) -> EndpointPolicy.Balancing {
        enum Kind { case powerOfTwo, roundRobin, ringHash }
        var ewma = EndpointPolicy.PeakEWMA()
        var ring = EndpointPolicy.RingHash()
        var present = Kind.powerOfTwo
        switch base {
        case .powerOfTwo(let settings): ewma = settings
        case .roundRobin: present = .roundRobin
        case .ringHash(let settings): (ring, present) = (settings, .ringHash)
        }
        ewma = EndpointPolicy.PeakEWMA(
            decay: duration("endpoints.ewma.decay").or(ewma.decay),
            assumed: duration("endpoints.ewma.assumed").or(ewma.assumed),
            failurePenalty: duration("endpoints.ewma.failurePenalty").or(ewma.failurePenalty),
            throttlePenalty: duration("endpoints.ewma.throttlePenalty").or(ewma.throttlePenalty),
            longestRetryAfter: duration("endpoints.ewma.longestRetryAfter").or(ewma.longestRetryAfter))
        ring = EndpointPolicy.RingHash(
            size: count("endpoints.ring.size").or(ring.size),
            loadBound: number("endpoints.ring.loadBound").orNil(ring.loadBound))
        let words: KeyValuePairs<String, Kind> = [
            "powerOfTwo": .powerOfTwo, "roundRobin": .roundRobin, "ringHash": .ringHash,
        ]
        present = choice("endpoints.balancing", words).or(present)
        let idle = "is set, and endpoints.balancing is another one"
        if present != .powerOfTwo { refuse(part: "endpoints.ewma", idle) }
        if present != .ringHash { refuse(part: "endpoints.ring", idle) }
        switch present {
        case .powerOfTwo: return .powerOfTwo(ewma)
        case .roundRobin: return .roundRobin
        case .ringHash: return .ringHash(ring)
        }
    }

    private func outliers(over program: EndpointPolicy.Outliers?) -> EndpointPolicy.Outliers? {
        let base = program ?? EndpointPolicy.Outliers()
        let longest = duration("endpoints.outliers.longestEjection").or(base.longestEjection)
        let outliers = EndpointPolicy.Outliers(
            consecutiveFailures: count("endpoints.outliers.consecutiveFailures").or(base.consecutiveFailures),
            stallTime: duration("endpoints.outliers.stallTime").or(base.stallTime),
            successRate: successRate(over: base.successRate),
            interval: duration("endpoints.outliers.interval").or(base.interval),
            baseEjection: duration("endpoints.outliers.baseEjection").or(base.baseEjection),
            longestEjection: longest,
            jitter: number("endpoints.outliers.jitter").or(base.jitter),
            largestShare: number("endpoints.outliers.largestShare").or(base.largestShare),
            isDryRun: flag("endpoints.outliers.isDryRun").or(base.isDryRun))
        if outliers.longestEjection != longest, isSet("endpoints.outliers.longestEjection") {
            fail("endpoints.outliers.longestEjection", "is shorter than endpoints.outliers.baseEjection")
        }
        return isOn("endpoints.outliers", by: program != nil) ? outliers : nil
    }

    private func successRate(over program: EndpointPolicy.SuccessRate?) -> EndpointPolicy.SuccessRate? {
        let base = program ?? EndpointPolicy.SuccessRate()
        let rate = EndpointPolicy.SuccessRate(
            factor: number("endpoints.successRate.factor").or(base.factor),
            minimumEndpoints: count("endpoints.successRate.minimumEndpoints").or(base.minimumEndpoints),
            minimumRequests: count("endpoints.successRate.minimumRequests").or(base.minimumRequests))
        return isOn("endpoints.successRate", by: program != nil) ? rate : nil
    }
}
