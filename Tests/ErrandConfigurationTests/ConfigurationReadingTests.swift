import Configuration
import Errand
import ErrandTesting
import Foundation
import Testing

@testable import ErrandConfiguration
@testable import ErrandResilience

/// Settings by keys.
@Suite struct ConfigurationReadingTests {
    @Test func withoutKeysTheProgramDecides() throws {
        var base = Client.Configuration(baseURL: "https://h/", headers: [.accept: "a/b"], loops: 3)
        base.timeouts.total = .seconds(9)
        base.resilience = .standard
        base.addressGuard = AddressGuard()
        base.cookies = .memory
        let read = try Client.Configuration.of([:], over: base)
        #expect(read.baseURL == "https://h/" && read.headers == [.accept: "a/b"] && read.loops == 3)
        #expect(read.timeouts == Timeouts(total: .seconds(9)) && read.limits == Limits())
        #expect(read.resilience == .standard && read.addressGuard == AddressGuard() && read.cookies == .memory)
        #expect(read.connection == ConnectionOptions() && read.queryStyle == QueryStyle() && read.options == [])
        let plain = try Client.Configuration.of([:])
        #expect(plain.resilience == nil && plain.addressGuard == nil && plain.hsts == nil && plain.altServices == nil)
        #expect(plain.layers.isEmpty && plain.cache == nil && plain.sharedEngine == nil && plain.endpoints.isEmpty)
    }

    /// Every key of the table is asked for, and no other.
    @Test func everyKeyIsRead() throws {
        let values = ConfigurationValues(ConfigReader.of([:]).snapshot())
        _ = try Client.Configuration.read(values, over: Client.Configuration())
        let names = Set(ConfigurationKey.all.map(\.name))
        #expect(values.asked.subtracting(names).isEmpty && names.subtracting(values.asked).isEmpty)
        for key in ConfigurationKey.all {
            let count = SettingsField.all.filter { $0.isRead(from: key.name) }.count
            #expect(count == (key.appliesAtRunTime ? 1 : 0), "\(key.name)")
        }
    }

    @Test func requests() throws {
        let read = try Client.Configuration.of([
            "baseURL": "https://api.test/v1/", "cdnURL": "https://cdn.test", "pathJoining": "append",
            "headers": "X-A: 1\nX-B: two words", "userAgent": "none", "languages": "de, en",
            "authorization.scheme": "basic", "authorization.username": "ada", "authorization.password": " s ",
            "authorization.anyOrigin": "yes", "query.arrays": "comma", "query.sortsNames": "false",
            "accept.statusCodes": "200-299, 404", "accept.contentTypes": "+json, text/plain",
            "options.allowReplay": "true", "redirects.limit": "3", "cache.policy": "timed", "cache.timeToLive": "1h",
            "cache.reading": "networkElseCache",
        ])
        #expect(read.baseURL == "https://api.test/v1/" && read.cdnURL == "https://cdn.test")
        #expect(read.pathJoining == .append && read.userAgent == nil && read.languages == ["de", "en"])
        #expect(read.headers.map { "\($0.name.rawName): \($0.value)" } == ["X-A: 1", "X-B: two words"])
        #expect(read.authorization == .basic(username: "ada", password: " s ") && read.authorizesAnyOrigin)
        #expect(read.queryStyle.arrays == .comma && !read.queryStyle.sortsNames && read.queryStyle.nulls == .nameOnly)
        #expect(read.acceptedStatusCodes.contains(250) && read.acceptedStatusCodes.contains(404))
        #expect(!read.acceptedStatusCodes.contains(500))
        #expect(read.acceptedContentTypes.accepts(contentType: "a/b+json"))
        #expect(read.options == .allowReplay && read.redirects.limit == 3)
        #expect(!read.settings.cache.isOff && read.settings.cache.reading == .networkElseCache)
        #expect(try Client.Configuration.of(["accept.statusCodes": "any"]).acceptedStatusCodes == .any)
        let bearer = ["authorization.scheme": "bearer", "authorization.token": "t"]
        #expect(try Client.Configuration.of(bearer).authorization == .bearer("t"))
    }

    @Test func connections() throws {
        // SHA-256 of nothing.
        let pin = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        let read = try Client.Configuration.of([
            "timeouts.connect": "250ms", "timeouts.idle": "none", "limits.bodyBytes": "1MiB",
            "connection.httpVersion": "http1", "connection.encodings": "gzip, br",
            "connection.proxy": "http://u:p@proxy:3128", "connection.proxyBypass": "localhost, 10.0.0.0/8",
            "connection.resolveOverrides": "h:80:127.0.0.1", "connection.unixSocketPath": "none",
            "connection.tcpKeepalive": "1m", "tls.caFile": #filePath, "tls.pinnedKeys": pin,
            "tls.minimumVersion": "1.3", "tls.requiresTLS": "true",
        ])
        #expect(read.timeouts == Timeouts(connect: .milliseconds(250), idle: .noLimit))
        #expect(read.limits == Limits(bodyBytes: 1 << 20))
        var expected = ConnectionOptions(httpVersion: .http1, encodings: [.gzip, .brotli])
        expected.proxy = .url("http://u:p@proxy:3128", bypass: ["localhost", "10.0.0.0/8"])
        expected.resolveOverrides = ["h:80:127.0.0.1"]
        expected.unixSocketPath = .libraryDefault
        expected.tcpKeepaliveSeconds = 60
        expected.tls = .init(caFile: #filePath, pinnedKeys: [pin], minimumVersion: .v1_3, requiresTLS: true)
        #expect(read.connection == expected)
        #expect(try Client.Configuration.of(["connection.encodings": "none"]).connection.encodings == [])
        #expect(try Client.Configuration.of(["connection.proxy": "environment"]).connection.proxy == .environment)
    }

    @Test func start() throws {
        let read = try Client.Configuration.of([
            "engine.name": "from a test", "engine.loops": "2", "engine.queueCapacity": "10",
            "engine.inFlightLimit": "20", "engine.originInFlightLimit": "30", "engine.maxConcurrentStreams": "40",
            "cookies.storage": "file", "cookies.file": "/jar", "reportsStops": "on", "cache.memory.bytes": "1MiB",
            "cache.namespace": "n",
        ])
        #expect(read.sharedEngine === SharedEngine.named("from a test") && read.loops == 2)
        #expect(read.queueCapacity == 10 && read.inFlightLimit == 20 && read.originInFlightLimit == 30)
        #expect(read.maxConcurrentStreams == 40)
        #expect(read.cookies == .file("/jar") && read.reportsStops && read.cache?.namespace == "n")
    }

    /// How many of many origins a cache remembers, which tells its capacity.
    private static func learned(by cache: AltServiceCache) -> Int {
        for number in 0..<1100 {
            cache.learn(
                ["h2=\":8443\"; ma=\(1000 + number)"], from: "https://h\(number).test:443", overFaultlessTLS: true)
        }
        return cache.count
    }

    private static func learned(by store: HSTSStore) -> Int {
        for number in 0..<10_100 {
            store.learn(["max-age=\(1000 + number)"], from: "h\(number).test", overFaultlessTLS: true)
        }
        return store.count
    }

    /// The default that the table names is the library's.
    @Test func defaultsAreTheLibrarys() throws {
        var texts: [String: String] = [:]
        for key in ConfigurationKey.all where key.defaultText != "not set" {
            if key.name == "tls.requiresTLS" { continue }
            // Endpoints need a base URL, and the engine's numbers depend on the machine.
            if key.name.hasPrefix("engine.") || key.name.hasPrefix("endpoints.") { continue }
            texts[key.name] = key.defaultText
        }
        // Of two forms of one setting only one may be set.
        for name in ["breaker.windowCalls", "hedge.delay", "userAgent", "connection.proxy"] { texts[name] = nil }
        for part in ["retry", "hedge", "breaker", "concurrency", "rate", "addressGuard", "hsts", "altServices"] {
            texts[part + ".enabled"] = "true"
        }
        let read = try Client.Configuration.of(texts)
        let resilience = try #require(read.resilience)
        #expect(resilience.retry == RetryPolicy() && resilience.budget == RetryBudget.Policy())
        #expect(resilience.hedge == HedgePolicy() && resilience.breaker == BreakerPolicy())
        #expect(resilience.concurrency == ConcurrencyLimit.Settings())
        #expect(resilience.rate == RateLimit.Settings(rate: nil) && resilience.deadlineHeader == nil)
        #expect(read.addressGuard == AddressGuard() && read.queryStyle == QueryStyle())
        #expect(read.timeouts.resolved == Timeouts().resolved && read.redirects.limit == RedirectPolicy.follow.limit)
        #expect(read.connection.resolved == ConnectionOptions(idleConnectionSeconds: 50).resolved)
        #expect(read.cookies == .off && read.settings.cache.isOff && read.options == [])
        // The numbers of the core, which `Limits` documents.
        let limits = Limits(headerBytes: 65_536, headerCount: 128, bodyBytes: 64 << 20, decodedBytes: 64 << 20)
        #expect(read.limits == limits && !read.redirects.allowsDowngrade && !read.obeysDeadlines)
        let plain = Client.Settings()
        #expect(read.baseURL == plain.baseURL && read.cdnURL == plain.cdnURL && read.headers == plain.headers)
        #expect(read.pathJoining == plain.pathJoining && read.filtersAbsoluteURLs == plain.filtersAbsoluteURLs)
        #expect(read.languages == plain.languages && read.authorization == plain.authorization)
        #expect(read.authorizesAnyOrigin == plain.authorizesAnyOrigin)
        #expect(read.acceptedStatusCodes == plain.acceptedStatusCodes)
        #expect(read.acceptedContentTypes == plain.acceptedContentTypes && !read.reportsStops)
        let cache = try #require(read.cache)
        #expect((cache.store as? MemoryCacheStore)?.limits == MemoryCacheStore.Limits() && !cache.isShared)
        let (services, hosts) = (try #require(read.altServices), try #require(read.hsts))
        #expect(Self.learned(by: services) == Self.learned(by: AltServiceCache()))
        #expect(Self.learned(by: hosts) == Self.learned(by: HSTSStore()))
    }

    @Test func resilience() throws {
        let read = try Client.Configuration.of([
            "retry.maxAttempts": "5", "retry.methods": "GET, POST", "retry.statusCodes": "503",
            "retry.failures": "timeout", "retry.retryAfterCap": "none", "hedge.delay": "50ms",
            "hedge.isDryRun": "true",
            "breaker.windowCalls": "200", "concurrency.adaptive.algorithm": "aimd",
            "concurrency.aimd.backoff": "0.8", "concurrency.adaptive.highest": "300", "rate.permits": "50",
            "rate.burst": "10", "deadlineHeader": "X-Left", "budget.enabled": "false",
        ])
        let resilience = try #require(read.resilience)
        let expected = RetryPolicy(
            maxAttempts: 5, methods: .only([.get, .post]), statusCodes: [503], failures: [.timeout],
            retryAfterCap: nil)
        #expect(resilience.retry == expected && resilience.budget == nil)
        #expect(resilience.hedge == HedgePolicy(delay: .fixed(.milliseconds(50)), isDryRun: true))
        #expect(resilience.breaker == BreakerPolicy(window: .count(200)))
        let adaptive = AdaptiveLimit.Settings(.aimd(.init(backoff: 0.8)), bounds: 20...300)
        #expect(resilience.concurrency == ConcurrencyLimit.Settings(adaptive: adaptive))
        #expect(resilience.rate == RateLimit.Settings(rate: .init(50, per: .seconds(1)), burst: 10))
        let name = try #require(HTTPField.Name("X-Left"))
        #expect(resilience.deadlineHeader == .milliseconds(name))
    }

    @Test func partsOfTheProgram() throws {
        var base = Client.Configuration()
        base.resilience = Resilience(
            retry: RetryPolicy(maxAttempts: 9, attemptTimeout: .seconds(1)), breaker: BreakerPolicy(jitter: 0))
        let read = try Client.Configuration.of(
            ["retry.maxAttempts": "2", "retry.attemptTimeout": "none", "breaker.enabled": "false"], over: base)
        #expect(read.resilience?.retry == RetryPolicy(maxAttempts: 2) && read.resilience?.breaker == nil)
        #expect(try Client.Configuration.of(["retry.enabled": "false"]).resilience == nil)
        #expect(try Client.Configuration.of(["retry.enabled": "true"]).resilience?.retry == RetryPolicy())
        let store = HSTSStore()
        base.hsts = store
        #expect(try Client.Configuration.of([:], over: base).hsts === store)
    }

    @Test func guards() throws {
        let read = try Client.Configuration.of([
            "addressGuard.allow": "10.1.0.0/16, 10.2.0.1 ports 443-444", "addressGuard.deny": "192.0.2.0/24",
            "addressGuard.ports": "443, 8000-8999", "addressGuard.isDryRun": "true",
            "addressGuard.proxiedNames": "refuse", "hsts.preloads": ".example.com, other.test",
            "altServices.capacity": "7",
        ])
        let expected = AddressGuard(
            rules: [
                try .allow("10.1.0.0/16"), try .allow("10.2.0.1", ports: 443...444), try .deny("192.0.2.0/24"),
            ], ports: [443...443, 8000...8999], isDryRun: true, proxiedNames: .refuse)
        #expect(read.addressGuard == expected)
        let store = try #require(read.hsts)
        #expect(store.isKnown("a.example.com") && store.isKnown("other.test") && !store.isKnown("a.other.test"))
        let services = try #require(read.altServices)
        let count = Self.learned(by: services)
        #expect(count == Self.learned(by: AltServiceCache(capacity: 7)) && (1...7).contains(count))
    }

    @Test func endpoints() throws {
        let read = try Client.Configuration.of([
            "baseURL": "https://api.test/v1", "endpoints.source": "list",
            "endpoints.list": "https://a.test weight=2 zone=eu, 10.0.0.1", "endpoints.balancing": "roundRobin",
            "endpoints.outliers.consecutiveFailures": "3", "endpoints.outliers.stallTime": "2s", "endpoints.zone": "eu",
        ])
        let made = try #require(read.endpoints.first)
        #expect(read.endpoints.count == 1 && made.origin == "https://api.test:443")
        #expect(made.policy.balancing == .roundRobin && made.policy.zonePreference == .init("eu"))
        #expect(made.policy.outliers == EndpointPolicy.Outliers(consecutiveFailures: 3, stallTime: .seconds(2)))
        let removed = try Client.Configuration.of(
            ["baseURL": "https://api.test/v1", "endpoints.source": "none"], over: read)
        #expect(removed.endpoints.isEmpty)
        let looked = try Client.Configuration.of([
            "baseURL": "https://api.test", "endpoints.source": "dns", "endpoints.timeout": "3s",
            "endpoints.ewma.throttlePenalty": "2s", "endpoints.ewma.longestRetryAfter": "9s",
        ])
        let ewma = EndpointPolicy.PeakEWMA(throttlePenalty: .seconds(2), longestRetryAfter: .seconds(9))
        #expect(looked.endpoints.first?.policy.balancing == .powerOfTwo(ewma))
        guard case .dns(let every, let timeout, _)? = looked.endpoints.first?.source.kind else {
            Issue.record("the name is not looked up")
            return
        }
        #expect(every == .seconds(30) && timeout == .seconds(3))
    }

    @Test func endpointsOfTheProgram() throws {
        var base = Client.Configuration(baseURL: "https://api.test/v1")
        let outliers = EndpointPolicy.Outliers(consecutiveFailures: 9, successRate: nil)
        let policy = EndpointPolicy(
            .ringHash(.init(size: 64, loadBound: nil)), outliers: outliers, panicThreshold: 0.1,
            zonePreference: .init("eu", healthyShare: 0.2))
        base.endpoints = [
            try ServiceEndpoints(of: "https://other.test", .dns()),
            try ServiceEndpoints(of: "https://api.test", .list([try Endpoint("https://a.test")]), policy: policy) {
                $0.url
            },
        ]
        let read = try Client.Configuration.of(
            ["endpoints.outliers.jitter": "0.3", "endpoints.ring.size": "128", "endpoints.zone": "us"], over: base)
        let made = try #require(read.endpoints.last)
        #expect(read.endpoints.map(\.origin) == ["https://other.test:443", "https://api.test:443"] && made.key != nil)
        #expect(made.policy.balancing == .ringHash(.init(size: 128, loadBound: nil)))
        let expected = EndpointPolicy.Outliers(consecutiveFailures: 9, successRate: nil, jitter: 0.3)
        #expect(made.policy.outliers == expected && made.policy.panicThreshold == 0.1)
        #expect(made.policy.zonePreference == .init("us", healthyShare: 0.2))
        guard case .list(let servers) = made.source.kind else {
            Issue.record("the program's list is gone")
            return
        }
        #expect(servers.map(\.url) == ["https://a.test:443"])
    }

    @Test func theCacheOfTheProgram() throws {
        var base = Client.Configuration()
        base.cache = ResponseCache(
            MemoryCacheStore(limits: .init(bytes: 1000, entries: 5)), name: "own", isShared: true,
            applicationVersion: "1", namespace: "n")
        let cache = try #require(try Client.Configuration.of(["cache.memory.entries": "7"], over: base).cache)
        #expect(cache.name == "own" && cache.isShared && cache.applicationVersion == "1" && cache.namespace == "n")
        #expect((cache.store as? MemoryCacheStore)?.limits == MemoryCacheStore.Limits(bytes: 1000, entries: 7))
    }

    @Test func deadlines() throws {
        #expect(try Client.Configuration.of(["obeysDeadlines": "true"]).obeysDeadlines)
        var base = Client.Configuration()
        base.obeysDeadlines = true
        #expect(try Client.Configuration.of([:], over: base).obeysDeadlines)
        #expect(try !Client.Configuration.of(["obeysDeadlines": "false"], over: base).obeysDeadlines)
    }
}
