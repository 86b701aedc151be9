import Configuration
import Errand
import ErrandTesting
import Synchronization
import Testing

@testable import ErrandConfiguration

/// A configuration that changes while its client runs.
@Suite(.timeLimit(.minutes(20))) struct ConfigurationFollowTests {
    private final class Reloads: Sendable {
        private let noted = Mutex<[ConfigurationReload]>([])
        func add(_ reload: ConfigurationReload) { noted.withLock { $0.append(reload) } }
        var all: [ConfigurationReload] { noted.withLock { $0 } }
    }

    private let provider = MutableInMemoryProvider(initialValues: ["http.timeouts.total": "5s"])

    private func set(_ name: String, _ text: String?) {
        provider.setValue(text.map { ConfigValue(.string($0), isSecret: false) }, forKey: .init(named: "http." + name))
    }

    private static func names(_ reload: ConfigurationReload?) -> [[String]] {
        guard case .applied(let changed, let needingRestart) = reload else { return [] }
        return [changed.map(\.name), needingRestart.map(\.name)]
    }

    @Test func changesAreApplied() async throws {
        let reader = ConfigReader(provider: provider).scoped(to: "http")
        let snapshot = reader.snapshot()
        let base = Client.Configuration(baseURL: "http://program/")
        let client = Client(
            configuration: try Client.Configuration(snapshot: snapshot, over: base), transport: StubTransport())
        #expect(client.settings.timeouts.total == .seconds(5))
        // Changed before anybody follows.
        set("userAgent", "one")
        let reloads = Reloads()
        let following = Task {
            try await client.follow(reader, from: snapshot, over: base) { reloads.add($0) }
        }
        try await waitUntil("the first change is applied") { client.settings.userAgent == "one" }
        // The program's own changes stay.
        client.reconfigure { $0.languages = ["de"] }
        set("timeouts.total", "1s")
        try await waitUntil("the timeout is applied") { client.settings.timeouts.total == .seconds(1) }
        #expect(client.settings.languages == ["de"] && client.settings.baseURL == "http://program/")

        set("timeouts.total", "1x")
        try await waitUntil("the wrong value is reported") { reloads.all.count == 3 }
        #expect(client.settings.timeouts.total == .seconds(1))
        guard case .refused(let error) = reloads.all[2] else {
            #expect(Bool(false), "a wrong value was taken")
            return
        }
        #expect(error.problems.map(\.key.name) == ["timeouts.total"])

        set("timeouts.total", nil)
        try await waitUntil("the key is gone") { client.settings.timeouts.total == nil }
        set("engine.loops", "2")
        try await waitUntil("the restart is reported") { reloads.all.count == 5 }
        #expect(
            reloads.all.map { Self.names($0) } == [
                [["userAgent"], []], [["timeouts.total"], []], [], [["timeouts.total"], []], [[], ["engine.loops"]],
            ])
        following.cancel()
        try? await following.value
        await client.shutdown()
    }

    /// In a log stand names, and no values.
    @Test func descriptions() throws {
        let keys = ConfigurationKey.all.filter { ["timeouts.total", "headers"].contains($0.name) }
        #expect("\(keys)" == "[headers, timeouts.total]")
        #expect(
            "\(ConfigurationReload.applied(changed: keys, needingRestart: []))" == "changed headers, timeouts.total")
        let waiting = ConfigurationReload.applied(changed: [], needingRestart: keys)
        #expect("\(waiting)" == "changed nothing; needing a restart: headers, timeouts.total")
        let error = try #require(throws: ConfigurationError.self) {
            try Client.Configuration.of(["timeouts.total": "5x", "headers": "no colon"])
        }
        #expect("\(ConfigurationReload.refused(error))" == "refused for headers, timeouts.total")
    }

    /// What differs from the start is told, also beside other changes; a file of the start is not read.
    @Test func whatNeedsARestartIsToldUntilItIsTakenBack() async throws {
        let reader = ConfigReader(provider: provider).scoped(to: "http")
        let client = Client(configuration: .init(), transport: StubTransport())
        var follower = ConfigurationFollower(client, from: reader.snapshot(), over: .init())
        set("engine.loops", "2")
        #expect(Self.names(follower.apply(reader.snapshot())) == [[], ["engine.loops"]])
        set("userAgent", "one")
        // A folder: the initializer refuses it.
        set("hsts.file", "/")
        #expect(Self.names(follower.apply(reader.snapshot())) == [["userAgent"], ["engine.loops", "hsts.file"]])
        set("hsts.file", nil)
        set("engine.loops", nil)
        #expect(Self.names(follower.apply(reader.snapshot())) == [[], []])
        #expect(follower.apply(reader.snapshot()) == nil)
        // A mistake that is taken back is told, although nothing has changed.
        set("redirects.limit", "many")
        guard case .refused = follower.apply(reader.snapshot()) else {
            Issue.record("a wrong value was taken")
            return
        }
        set("redirects.limit", nil)
        #expect(follower.apply(reader.snapshot()) == .applied(changed: [], needingRestart: []))
        #expect(follower.apply(reader.snapshot()) == nil)
        set("cookies.storage", "file")
        set("cookies.file", "/")
        #expect(Self.names(follower.apply(reader.snapshot())) == [[], ["cookies.storage", "cookies.file"]])
        await client.shutdown()
    }

    /// The client keeps its old token.
    @Test func aTokenThatNoRequestCouldUseIsRefused() async throws {
        set("authorization.scheme", "bearer")
        set("authorization.token", "t")
        let reader = ConfigReader(provider: provider).scoped(to: "http")
        let snapshot = reader.snapshot()
        let client = Client(configuration: try Client.Configuration(snapshot: snapshot), transport: StubTransport())
        var follower = ConfigurationFollower(client, from: snapshot, over: .init())
        set("authorization.token", "next\n")
        let refused = follower.apply(reader.snapshot())
        guard case .refused(let error) = refused else {
            Issue.record("a wrong token was taken")
            return
        }
        #expect(error.problems.map(\.key.name) == ["authorization.token"] && !"\(error)".contains("next"))
        #expect(client.settings.authorization == .bearer("t"))
        set("authorization.token", "next")
        let applied = follower.apply(reader.snapshot())
        #expect(Self.names(applied) == [["authorization.token"], []])
        #expect(client.settings.authorization == .bearer("next"))
        await client.shutdown()
    }

    /// The client's endpoints stand for the origin that the base URL had at the start.
    @Test func aBaseURLThatLeavesItsEndpointsNeedsARestart() async throws {
        set("baseURL", "https://a.test/v1")
        set("endpoints.source", "list")
        set("endpoints.list", "10.0.0.1, 10.0.0.2")
        let reader = ConfigReader(provider: provider).scoped(to: "http")
        let snapshot = reader.snapshot()
        let client = Client(configuration: try Client.Configuration(snapshot: snapshot), transport: StubTransport())
        var follower = ConfigurationFollower(client, from: snapshot, over: .init())
        let steps: [(url: String, needingRestart: [String])] = [
            ("https://a.test/v2", []), ("https://b.test/v2", ["endpoints.source"]), ("https://a.test/v2", []),
            ("http://a.test/v2", ["endpoints.source"]), ("https://a.test:8443/v2", ["endpoints.source"]),
        ]
        for (url, needingRestart) in steps {
            set("baseURL", url)
            let reload = follower.apply(reader.snapshot())
            #expect(Self.names(reload) == [["baseURL"], needingRestart], "\(url)")
            #expect(client.settings.baseURL == url)
        }
        // Without endpoints any base URL applies.
        set("endpoints.source", nil)
        set("endpoints.list", nil)
        var plain = ConfigurationFollower(client, from: reader.snapshot(), over: .init())
        set("baseURL", "https://c.test")
        let reload = plain.apply(reader.snapshot())
        #expect(Self.names(reload) == [["baseURL"], []])
        await client.shutdown()
    }

    /// Also what stands beside a changed setting in the same group.
    @Test func whatTheProgramHasChangedStays() async throws {
        let reader = ConfigReader(provider: provider).scoped(to: "http")
        let client = Client(configuration: .init(), transport: StubTransport())
        var follower = ConfigurationFollower(client, from: reader.snapshot(), over: .init())
        client.reconfigure {
            $0.timeouts.connect = .seconds(3)
            $0.limits.bodyBytes = 9
            $0.connection.localInterface = "127.0.0.1"
            $0.connection.tls.minimumVersion = .v1_3
            $0.queryStyle.arrays = .comma
            $0.options = .allowReplay
        }
        for (name, text) in [
            ("timeouts.total", "1s"), ("limits.headerCount", "7"), ("connection.httpVersion", "http1"),
            ("tls.requiresTLS", "true"), ("query.nulls", "empty"), ("options.withoutCookies", "true"),
        ] { set(name, text) }
        _ = follower.apply(reader.snapshot())
        let settings = client.settings
        #expect(settings.timeouts == Timeouts(connect: .seconds(3), total: .seconds(1)))
        #expect(
            settings.limits == Limits(headerCount: 7, bodyBytes: 9)
                && settings.options == [.allowReplay, .withoutCookies])
        let tls = ConnectionOptions.TLS(minimumVersion: .v1_3, requiresTLS: true)
        #expect(settings.connection == ConnectionOptions(httpVersion: .http1, tls: tls, localInterface: "127.0.0.1"))
        #expect(settings.queryStyle.arrays == .comma && settings.queryStyle.nulls == .empty)
        set("options.withoutCookies", "false")
        _ = follower.apply(reader.snapshot())
        #expect(client.settings.options == .allowReplay)
        await client.shutdown()
    }

    /// Without a task: what one snapshot after the other does.
    @Test func onlyChangesAreTold() async throws {
        let reader = ConfigReader(provider: provider).scoped(to: "http")
        let client = Client(configuration: .init(), transport: StubTransport())
        var follower = ConfigurationFollower(client, from: reader.snapshot(), over: .init())
        #expect(follower.apply(reader.snapshot()) == nil && client.settings.timeouts.total == nil)
        set("limits.bodyBytes", "many")
        guard case .refused = follower.apply(reader.snapshot()) else {
            #expect(Bool(false), "a wrong value was taken")
            return
        }
        // The same mistake is told once.
        set("timeouts.total", "7s")
        #expect(follower.apply(reader.snapshot()) == nil && client.settings.timeouts.total == nil)
        set("limits.bodyBytes", "7")
        let reload = follower.apply(reader.snapshot())
        #expect(Self.names(reload) == [["timeouts.total", "limits.bodyBytes"], []])
        #expect(client.settings.timeouts.total == .seconds(7) && client.settings.limits.bodyBytes == 7)
        await client.shutdown()
    }
}
