import Errand
import ErrandConfigurationKeys
import Foundation
import Testing

/// Every setting has a key, or `docs/configuration.md` names it as one that no key sets.
@Suite struct ConfigurationCoverageTests {
    /// The members of a struct of settings.
    private struct Part {
        let value: Any
        /// What stands before a member's name in the name of its key.
        let scope: String
        /// The keys of members that have keys of other names, or none.
        let others: [String: [String]]

        init(_ value: Any, _ scope: String, _ others: [String: [String]] = [:]) {
            self.value = value
            self.scope = scope
            self.others = others
        }
    }

    /// Members that are no settings, or hold several that are checked one by one.
    private static let containers: Set<String> = ["settings", "layers", "connectTo"]

    private static var clientParts: [Part] {
        [
            Part(
                Client.Configuration(), "",
                [
                    "callbackQueue": [], "accessories": [], "interceptors": [], "clock": [],
                    "cacheStorage": ["cache.memory"], "urlUpgrade": ["hsts"], "addressFilter": ["addressGuard"],
                    "sharedEngine": ["engine.name"], "loops": ["engine.loops"],
                    "queueCapacity": ["engine.queueCapacity"],
                    "inFlightLimit": ["engine.inFlightLimit"], "originInFlightLimit": ["engine.originInFlightLimit"],
                    "maxConcurrentStreams": ["engine.maxConcurrentStreams"],
                ]),
            Part(
                Client.Settings(), "",
                [
                    "urlFilters": [], "jsonEncoder": [], "jsonDecoder": [], "tlsPolicies": [],
                    "authorizesAnyOrigin": ["authorization.anyOrigin"], "queryStyle": ["query"],
                    "acceptedStatusCodes": ["accept.statusCodes"], "acceptedContentTypes": ["accept.contentTypes"],
                ]),
            Part(Timeouts(), "timeouts."), Part(Limits(), "limits."), Part(QueryStyle(), "query."),
            Part(RedirectPolicy.follow, "redirects.", ["decide": []]),
            Part(
                ConnectionOptions(), "connection.",
                [
                    "tls": ["tls"], "tcpKeepaliveSeconds": ["connection.tcpKeepalive"],
                    "idleConnectionSeconds": ["connection.idleTime"],
                ]),
            Part(ConnectionOptions.TLS(), "tls.", ["proxyCAFile": ["tls.proxyCaFile"], "keyLog": []]),
            Part(MemoryCacheStore.Limits(), "cache.memory.", ["bytesPerEntry": ["cache.memory.entryBytes"]]),
        ]
    }

    private static var resilienceParts: [Part] {
        [
            Part(Resilience(), ""), Part(RetryPolicy(), "retry.", ["excludedErrors": []]),
            Part(RetryBackoff(), "retry.backoff."), Part(RetryBudget.Policy(), "budget."),
            Part(RetryBudget.Policy(), "hedge.budget."), Part(HedgePolicy(), "hedge."),
            Part(BreakerPolicy(), "breaker."), Part(ConcurrencyLimit.Settings(), "concurrency."),
            Part(
                AdaptiveLimit.Settings(), "concurrency.adaptive.",
                ["bounds": ["concurrency.adaptive.lowest", "concurrency.adaptive.highest"]]),
            Part(AdaptiveLimit.Gradient2(), "concurrency.gradient2."), Part(AdaptiveLimit.AIMD(), "concurrency.aimd."),
            Part(RateLimit.Settings(rate: nil), "rate.", ["rate": ["rate.permits", "rate.period"]]),
            Part(RateLimit.Rate(1, per: .seconds(1)), "rate."),
            Part(AddressGuard(), "addressGuard.", ["rules": ["addressGuard.allow", "addressGuard.deny"]]),
            Part(
                EndpointPolicy(), "endpoints.",
                ["zonePreference": ["endpoints.zone", "endpoints.zoneHealthyShare"]]),
            Part(EndpointPolicy.PeakEWMA(), "endpoints.ewma."), Part(EndpointPolicy.RingHash(), "endpoints.ring."),
            Part(EndpointPolicy.Outliers(), "endpoints.outliers.", ["successRate": ["endpoints.successRate"]]),
            Part(EndpointPolicy.SuccessRate(), "endpoints.successRate."),
            Part(
                EndpointPolicy.ZonePreference("a"), "endpoints.",
                ["healthyShare": ["endpoints.zoneHealthyShare"]]),
        ]
    }

    private let names = ConfigurationKey.all.map(\.name)

    /// A key, or the first words of some.
    private func isKey(_ name: String) -> Bool {
        names.contains { $0 == name || $0.hasPrefix(name + ".") }
    }

    /// The paragraph of the settings without keys.
    private static func exceptions() throws -> String {
        let text = try SourceTree.text("docs/configuration.md")
        let start = try #require(text.range(of: "## What no key sets"))
        let end = try #require(text.range(of: "## Keys"))
        return String(text[start.upperBound..<end.lowerBound])
    }

    @Test func everyMemberHasAKey() throws {
        let exceptions = try Self.exceptions()
        for part in Self.clientParts + Self.resilienceParts {
            let type = "\(Swift.type(of: part.value))"
            let members = Mirror(reflecting: part.value).children.compactMap(\.label)
            #expect(!members.isEmpty && part.others.keys.allSatisfy { members.contains($0) }, "\(type)")
            for member in members where !Self.containers.contains(member) {
                let keys = part.others[member] ?? [part.scope + member]
                #expect(keys.allSatisfy { isKey($0) }, "\(type).\(member) has no key")
                if keys.isEmpty { #expect(exceptions.contains("\(member)`"), "\(type).\(member)") }
            }
        }
    }

    /// What other modules add to a configuration.
    @Test func everyAddedPropertyHasAKey() throws {
        let exceptions = try Self.exceptions()
        let others: [String: String] = ["resilience": "retry"]
        let without: Set<String> = ["resilienceParts", "onBreakerTransition", "attemptSigner", "metrics", "tracing"]
        var found: Set<String> = []
        for path in SourceTree.files(in: "Sources", suffix: ".swift") {
            var isInside = false
            for line in try SourceTree.text(path).split(separator: "\n") {
                if line.hasPrefix("extension Client.Configuration {") { isInside = true }
                if line == "}" { isInside = false }
                let start = "    public var "
                guard isInside, line.hasPrefix(start) else { continue }
                found.insert(String(line.dropFirst(start.count).prefix { $0.isLetter || $0.isNumber }))
            }
        }
        #expect(found.isSuperset(of: without) && found.contains("obeysDeadlines"))
        for name in found {
            if without.contains(name) {
                #expect(exceptions.contains("`\(name)`"), "\(name)")
            } else {
                #expect(isKey(others[name] ?? name), "\(name) has no key")
            }
        }
    }
}
