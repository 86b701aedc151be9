import Configuration
import Errand
import Foundation
import Testing

@testable import ErrandConfiguration

/// Wrong values, and where values come from.
@Suite struct ConfigurationProblemTests {
    @Test func allWrongValuesAreNamed() throws {
        let error = try #require(throws: ConfigurationError.self) {
            try Client.Configuration.of(["timeouts.connect": "5x", "engine.loops": "65", "retry.enabled": "maybe"])
        }
        #expect(
            error.description == "timeouts.connect: '5x' is not a duration such as 250ms, 1.5s or 1m; "
                + "engine.loops: '65' is not within 1 to 64; retry.enabled: 'maybe' is neither true nor false")
    }

    @Test(arguments: [
        ("baseURL", "example", "does not have the form"), ("baseURL", "", "is empty"),
        ("pathJoining", "maybe", "'maybe' is none of resolve, append"),
        ("redirects.limit", "ten", "'ten' is not a whole number"),
        ("timeouts.total", "31d", "'31d' is not within 1ms to 30d"),
        ("limits.bodyBytes", "1KB", "'1KB' is not a number of bytes"),
        ("accept.statusCodes", "200, 99", "'99' is not a status"),
        ("connection.encodings", "gzip, lzma", "'lzma' is not one of"),
        ("connection.idleTime", "1500ms", "'1500ms' is not a whole number of seconds"),
        ("connection.proxyBypass", "h:80", "is not a host name"), ("retry.methods", "get", "'get' is not"),
        ("retry.failures", "all", "'all' is not one of noConnection"),
        ("concurrency.adaptive.lowest", "500", "above concurrency.adaptive.highest"),
        ("addressGuard.allow", "10.0.0.0/33", "'10.0.0.0/33' is not a range"),
        ("addressGuard.ports", "70000", "'70000' is not a port"), ("deadlineHeader", "a b", "is not the name"),
        ("cookies.storage", "file", ""), ("authorization.token", "t", "authorization.scheme is not"),
        ("cache.policy", "timed", ""), ("endpoints.list", "10.0.0.1", ""),
        ("endpoints.source", "dns", "needs a baseURL"),
        ("hsts.file", "/", ""),
    ]) func aWrongValue(_ name: String, _ text: String, _ reason: String) throws {
        let found = problems(of: [name: text])
        #expect(found.count >= 1)
        // Some values lack another key, which is the one that is named.
        if !reason.isEmpty { #expect(found[name]?.contains(reason) == true, "\(found)") }
    }

    @Test func whatIsMissingIsNamed() {
        #expect(problems(of: ["cookies.storage": "file"])["cookies.file"] != nil)
        #expect(problems(of: ["cache.policy": "timed"])["cache.timeToLive"] != nil)
        #expect(problems(of: ["authorization.scheme": "digest"])["authorization.username"] != nil)
        #expect(problems(of: ["endpoints.list": "10.0.0.1"])["endpoints.source"] != nil)
    }

    /// A variable that is set to nothing by mistake must not remove pins, rules or limits.
    @Test func anEmptyValueIsWrong() {
        for key in ConfigurationKey.all {
            #expect(problems(of: [key.name: ""])[key.name]?.contains("is empty") == true, "\(key.name)")
            guard key.kind == .list || key.kind == .fields else { continue }
            #expect(problems(of: [key.name: " \n"])[key.name]?.contains("is empty") == true, "\(key.name)")
            let list = ConfigValue(.stringArray([]), isSecret: false)
            let provider = InMemoryProvider(values: [AbsoluteConfigKey(named: key.name): list])
            let error = #expect(throws: ConfigurationError.self, "\(key.name)") {
                try Client.Configuration(reader: ConfigReader(provider: provider))
            }
            #expect(error?.problems.contains { $0.key == key && $0.reason.contains("is empty") } == true)
        }
        #expect(problems(of: ["addressGuard.ports": "443,,80"])["addressGuard.ports"] == "has an empty element")
        #expect(problems(of: ["retry.statusCodes": "503,"])["retry.statusCodes"] == "has an empty element")
        #expect(problems(of: ["tls.pinnedKeys": "none, a"])["tls.pinnedKeys"]?.contains("beside") == true)
        #expect(problems(of: ["accept.contentTypes": "none"])["accept.contentTypes"]?.contains("'none'") == true)
    }

    /// The word of the table's default column is a value.
    @Test func noneIsAValueWhereItIsTheDefault() throws {
        var base = Client.Configuration(headers: [.accept: "a/b"])
        base.languages = ["de"]
        base.connection.tls.pinnedKeys = ["abc"]
        base.connection.resolveOverrides = ["h:80:127.0.0.1"]
        base.connection.proxy = .url("http://proxy", bypass: ["localhost"])
        base.addressGuard = AddressGuard(rules: [try .allow("10.0.0.0/8"), try .deny("10.1.0.0/16")], ports: [1...2])
        var texts: [String: String] = [:]
        for key in ConfigurationKey.all where key.defaultText == "none" {
            if case .choice = key.kind { continue }
            #expect(problems(of: [key.name: "none"])[key.name] == nil, "\(key.name)")
            if key.kind == .list || key.kind == .fields { texts[key.name] = "none" }
        }
        let read = try Client.Configuration.of(texts, over: base)
        #expect(read.headers.isEmpty && read.languages.isEmpty && read.addressGuard == AddressGuard())
        #expect(read.connection.tls.pinnedKeys == [] && read.connection.resolveOverrides == [])
        #expect(read.connection.proxy == .url("http://proxy"))
    }

    /// What would fail every request, or be changed to something else, without a word.
    @Test(arguments: [
        ("tls.pinnedKeys", "abc"), ("tls.caFile", "/nowhere/ca.pem"), ("tls.proxyCaFile", "/"),
        ("tls.clientCertificate", "/nowhere/c.pem"), ("tls.clientKey", "/nowhere/k.pem"), ("languages", "en, de_AT"),
        ("connection.resolveOverrides", "h:80:localhost"), ("connection.proxy", "http://u:secret@proxy:99999"),
        ("connection.localInterface", "no such place"), ("hsts.preloads", "a b"), ("hsts.preloads", ".10.0.0.1"),
        ("hedge.delay", "0s"), ("rate.permits", "1000000000"), ("headers", "Transfer-Encoding: x"),
        ("headers", "X-A: 1\ncontent-length: 5"), ("headers", "X-A: a\u{1}secret"), ("headers", "X-A: a\u{7F}secret"),
        ("userAgent", "errand\n"), ("userAgent", "a\u{7F}b"),
    ]) func whatNoRequestCouldUse(_ name: String, _ text: String) {
        let found = problems(of: [name: text])
        #expect(Array(found.keys) == [name] && found[name]?.contains("secret") == false, "\(found)")
    }

    /// The same for values that need other keys: the key, its value, and the other keys. A secret that `echo` has written
    /// ends in a line feed.
    static let unusable: [(String, String, [String: String])] = [
        ("authorization.token", "s3cret\n", ["authorization.scheme": "bearer"]),
        ("authorization.username", "s3cret:b", ["authorization.scheme": "basic", "authorization.password": "p"]),
        ("authorization.username", "s3cret:b", ["authorization.scheme": "digest", "authorization.password": "p"]),
        ("authorization.username", "s3cret\n", ["authorization.scheme": "basic", "authorization.password": "p"]),
        ("authorization.password", "s3cret\n", ["authorization.scheme": "basic", "authorization.username": "u"]),
        ("authorization.password", "s3cret\u{7F}", ["authorization.scheme": "digest", "authorization.username": "u"]),
        ("cookies.file", "/", ["cookies.storage": "file"]), ("cookies.file", "/dev/null", ["cookies.storage": "file"]),
        ("cookies.file", #filePath + "/jar", ["cookies.storage": "file"]),
        ("cookies.file", "/nowhere\0/jar", ["cookies.storage": "file"]),
    ]

    @Test(arguments: unusable) func whatNoRequestCouldUseBesideOtherKeys(
        _ name: String, _ text: String, _ others: [String: String]
    ) {
        let found = problems(of: others.merging([name: text]) { $1 })
        #expect(Array(found.keys) == [name] && !"\(found)".contains("s3cret"), "\(found)")
    }

    @Test func whatRequestsCanUseIsRight() {
        for texts in [
            ["headers": "X-A: a\tb"], ["userAgent": "a\tb"], ["cookies.storage": "file", "cookies.file": #filePath],
            ["cookies.storage": "file", "cookies.file": "/nowhere/jar"],
            ["authorization.scheme": "basic", "authorization.username": "u", "authorization.password": "a:b"],
        ] { #expect(problems(of: texts).isEmpty, "\(problems(of: texts))") }
    }

    @Test func valuesThatDoNotFitTogether() {
        #expect(problems(of: ["breaker.windowCalls": "10"]).isEmpty)
        let calls = problems(of: ["breaker.windowCalls": "10", "breaker.minimumCalls": "11"])
        #expect(calls["breaker.minimumCalls"] != nil)
        let times = problems(of: ["breaker.openTime": "10s", "breaker.longestOpenTime": "9s"])
        #expect(times["breaker.longestOpenTime"] != nil)
        let ejections = problems(of: [
            "endpoints.outliers.baseEjection": "10s", "endpoints.outliers.longestEjection": "9s",
        ])
        #expect(ejections["endpoints.outliers.longestEjection"] != nil)
        #expect(problems(of: ["rate.permits": "2000000", "rate.period": "1s"])["rate.period"] != nil)
    }

    /// What is set, and has no effect because of another key: the key, and the others.
    static let idle: [(String, [String: String])] = [
        ("concurrency.adaptive.highest", ["concurrency.adaptive.highest": "300"]),
        ("concurrency.gradient2.queueSize", ["concurrency.gradient2.queueSize": "1"]),
        (
            "concurrency.aimd.backoff",
            ["concurrency.aimd.backoff": "0.8", "concurrency.adaptive.algorithm": "gradient2"]
        ),
        (
            "concurrency.gradient2.queueSize",
            ["concurrency.gradient2.queueSize": "1", "concurrency.adaptive.algorithm": "aimd"]
        ),
        ("cookies.file", ["cookies.file": "/jar", "cookies.storage": "memory"]),
        ("authorization.token", ["authorization.token": "t", "authorization.scheme": "basic"]),
        ("authorization.username", ["authorization.username": "u", "authorization.scheme": "bearer"]),
        ("cache.timeToLive", ["cache.timeToLive": "1s", "cache.policy": "http"]),
        ("cache.version", ["cache.version": "2"]), ("cache.reading", ["cache.reading": "cacheOnly"]),
        ("connection.proxyBypass", ["connection.proxyBypass": "a.test", "connection.proxy": "environment"]),
        ("budget.ratio", ["budget.ratio": "0.5"]), ("rate.period", ["rate.period": "2s"]),
        ("endpoints.list", ["endpoints.list": "10.0.0.1", "endpoints.source": "dns"]),
        ("endpoints.timeout", ["endpoints.timeout": "2s", "endpoints.source": "list"]),
        ("endpoints.ewma.decay", ["endpoints.ewma.decay": "2s", "endpoints.balancing": "roundRobin"]),
        ("endpoints.ring.size", ["endpoints.ring.size": "2"]),
        ("endpoints.zoneHealthyShare", ["endpoints.zoneHealthyShare": "0.5"]),
    ]

    @Test(arguments: idle) func aKeyWithoutEffectIsWrong(_ name: String, _ texts: [String: String]) {
        #expect(problems(of: texts)[name]?.contains("is set") == true, "\(problems(of: texts))")
    }

    /// A word that turns a part off may stand beside its keys.
    @Test func keysOfAPartThatIsOffMayStay() throws {
        for texts in [
            ["concurrency.adaptive.algorithm": "none", "concurrency.aimd.backoff": "0.8"],
            ["cookies.storage": "off", "cookies.file": "/jar"],
            ["authorization.scheme": "none", "authorization.token": "t"],
            ["cache.policy": "off", "cache.timeToLive": "1s"], ["budget.enabled": "false", "budget.ratio": "0.5"],
            ["retry.enabled": "false", "budget.ratio": "0.5"], ["rate.permits": "none", "rate.period": "2s"],
            ["baseURL": "https://h", "endpoints.source": "none", "endpoints.list": "10.0.0.1"],
        ] { #expect(problems(of: texts).isEmpty, "\(problems(of: texts))") }
        var base = Client.Configuration()
        base.resilience = Resilience(breaker: BreakerPolicy(window: .count(50)))
        let read = try Client.Configuration.of(["breaker.windowCalls": "none", "budget.ratio": "0.5"], over: base)
        #expect(read.resilience?.breaker?.window == .time(.seconds(10)) && read.resilience?.budget?.ratio == 0.5)
    }

    /// Not in an error, whatever the value.
    @Test func secretsAreNotShown() {
        let secret = "s3cret"
        for key in ConfigurationKey.all where key.isSecret {
            // No option of a connection may contain a NUL.
            let found = [secret, secret + "\n:", secret + "\0"].map { problems(of: [key.name: $0]) }
            #expect(found.contains { $0[key.name] != nil }, "\(key.name) has no wrong value here")
            #expect(found.allSatisfy { !"\($0)".contains(secret) }, "\(key.name)")
        }
        #expect(problems(of: ["headers": "no colon"])["headers"]?.contains("field 1") == true)
    }

    @Test func boundsAreThoseOfTheTable() {
        for key in ConfigurationKey.all {
            guard let bounds = key.bounds else { continue }
            for size in [bounds.lowerBound, bounds.upperBound] {
                let text = key.kind == .duration ? "\(size * 1e6)us" : size < 1e15 ? "\(size)" : "1125899906842624"
                let whole = key.kind == .number || key.kind == .duration ? text : text.replacing(".0", with: "")
                #expect(problems(of: [key.name: whole])[key.name]?.contains("within") != true, "\(key.name) \(whole)")
            }
            let above = key.kind == .duration ? "99999d" : "99999999999999999"
            #expect(problems(of: [key.name: above])[key.name]?.contains("within") == true, "\(key.name)")
        }
    }

    @Test func everyWordIsAChoice() {
        let companions = [
            "baseURL": "https://h/", "endpoints.list": "10.0.0.1", "cookies.file": "/jar", "cache.timeToLive": "1s",
            "cache.policy": "timed",
            "authorization.username": "a", "authorization.password": "b", "authorization.token": "c",
        ]
        for key in ConfigurationKey.all {
            guard case .choice(let words) = key.kind else { continue }
            for word in words {
                let found = problems(of: companions.merging([key.name: word]) { $1 })
                #expect(found[key.name] == nil, "\(key.name) \(word)")
            }
            #expect(problems(of: [key.name: "no such word"])[key.name] != nil, "\(key.name)")
        }
    }

    // MARK: Sources

    @Test func theEnvironment() throws {
        let variables = [
            "HTTP_USERS_BASE_URL": "https://users.test/", "HTTP_USERS_TIMEOUTS_FIRST_BYTE": "2s",
            "HTTP_USERS_TLS_PROXY_CA_FILE": #filePath, "HTTP_USERS_LANGUAGES": "de,en", "HTTP_USERS_TIMOUTS": "1s",
            "HTTP_USERSX": "1",
        ]
        let reader = ConfigReader(provider: EnvironmentVariablesProvider(environmentVariables: variables))
        let read = try Client.Configuration(reader: reader.scoped(to: "http.users"))
        #expect(read.baseURL == "https://users.test/" && read.timeouts.firstByte == .seconds(2))
        #expect(read.connection.tls.proxyCAFile == .value(#filePath) && read.languages == ["de", "en"])
        #expect(
            ConfigurationKey.unknown(amongVariables: variables.keys, inScope: "http.users") == ["HTTP_USERS_TIMOUTS"])
        let names = ["http.users.baseURL", "http.users.baseUrl", "http.other"]
        #expect(ConfigurationKey.unknown(among: names, inScope: "http.users") == ["http.users.baseUrl"])
    }

    /// The provider asks for the variable that the table names.
    @Test func variablesAreThoseOfTheProvider() {
        for key in ConfigurationKey.all {
            let variable = key.environmentVariable(inScope: "myService.http")
            let provider = EnvironmentVariablesProvider(environmentVariables: [variable: "x"])
            let snapshot = ConfigReader(provider: provider).scoped(to: "myService.http").snapshot()
            #expect(snapshot.string(forKey: ConfigKey(key.name)) == "x", "\(key.name)")
        }
    }

    @Test func aFileOfJSON() async throws {
        let file = try await FileProvider<JSONSnapshot>.of(
            """
            {"headers": {"baseURL": "https://h/", "headers": ["X-A: a, b", "X-B: 2"], "redirects": {"limit": 5},
            "reportsStops": true, "retry": {"backoff": {"jitter": 0.5}, "statusCodes": [502, 503]},
            "connection": {"resolveOverrides": ["h:80:10.0.0.1,10.0.0.2"]}, "timeouts": {"idle": 5}}}
            """)
        // A scope that is the name of a key, too.
        let reader = ConfigReader(provider: file).scoped(to: "headers")
        let error = #expect(throws: ConfigurationError.self) { try Client.Configuration(reader: reader) }
        #expect(error?.problems.map(\.key.name) == ["timeouts.idle"])
        let defaults = InMemoryProvider(values: ["headers.timeouts.idle": "5s"])
        let both = ConfigReader(providers: [defaults, file]).scoped(to: "headers")
        let read = try Client.Configuration(reader: both)
        #expect(read.baseURL == "https://h/" && read.headers.map(\.value) == ["a, b", "2"])
        #expect(read.redirects.limit == 5 && read.reportsStops && read.timeouts.idle == .seconds(5))
        #expect(read.resilience?.retry?.backoff.jitter == 0.5 && read.resilience?.retry?.statusCodes == [502, 503])
        #expect(read.connection.resolveOverrides == ["h:80:10.0.0.1,10.0.0.2"])
    }

    /// JSON has one type for both in swift-configuration.
    @Test func booleansAndNumbersOfJSON() async throws {
        let right = try await FileProvider<JSONSnapshot>.of(
            #"{"reportsStops": 1, "filtersAbsoluteURLs": true, "authorization": {"anyOrigin": false}}"#)
        let read = try Client.Configuration(reader: ConfigReader(provider: right))
        #expect(read.reportsStops && read.filtersAbsoluteURLs && !read.authorizesAnyOrigin)
        let wrong = try await FileProvider<JSONSnapshot>.of(
            #"{"reportsStops": 5, "filtersAbsoluteURLs": 0.5, "headers": [], "redirects": {"limit": "true"}}"#)
        let error = #expect(throws: ConfigurationError.self) {
            try Client.Configuration(reader: ConfigReader(provider: wrong))
        }
        let names = error?.problems.map(\.key.name)
        #expect(names == ["filtersAbsoluteURLs", "headers", "redirects.limit", "reportsStops"])
    }

    @Test func aProviderThatFails() throws {
        let values = InMemoryProvider(values: ["languages": "de"])
        for providers: [any ConfigProvider] in [[BrokenProvider()], [values, BrokenProvider()]] {
            let error = #expect(throws: ConfigurationError.self) {
                try Client.Configuration(reader: ConfigReader(providers: providers))
            }
            #expect(error?.problems.count == 1 && error?.description.contains("cannot be read: Failure()") == true)
        }
    }
}
