import Dispatch
import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandModel

private struct Ask: Command {
    var path = "x"
    var connection: ConnectionOptions?
}

@Suite struct ReconfigureTests {
    @Test func laterRequestsSeeTheChange() throws {
        let client = Client.stubbed(StubTransport())
        #expect(try client.describe(Ask()).url == "http://test/x")
        client.reconfigure { settings in
            settings.baseURL = "http://next/v2"
            settings.headers[.accept] = "a/b"
            settings.userAgent = nil
            settings.timeouts.total = .seconds(7)
            settings.authorization = .bearer("t")
            settings.languages = ["de"]
            settings.urlFilters = [QueryParameterFilter(["k": "v"])]
            settings.connection.httpVersion = .http1
            settings.tlsPolicies["pinned"] = .init(pinnedKeys: ["k"])
        }
        let description = try client.describe(Ask())
        #expect(description.url == "http://next/v2/x?k=v")
        #expect(description.headers.fields == [.accept: "a/b", .acceptLanguage: "de;q=1", .authorization: "Bearer t"])
        #expect(description.settings.timeouts.total == .seconds(7))
        #expect(description.settings.connection?.httpVersion == .http1)
        let pinned = try client.describe(Ask(path: "https://pinned/")).settings.connection
        #expect(pinned?.tls.pinnedKeys == ["k"] && pinned?.httpVersion == .http1)
        #expect(client.settings.baseURL == "http://next/v2")
        // Back to what the engine was started with: no options, its own connections.
        client.reconfigure { $0.connection = ConnectionOptions() }
        #expect(try client.describe(Ask()).settings.connection == nil)
    }

    @Test func requestsBuiltBeforeAreAsTheyWere() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        client.start(Ask())
        client.reconfigure { $0.baseURL = "http://other/" }
        client.start(Ask())
        #expect(stub.submitted.map(\.url) == ["http://test/x", "http://other/x"])
        await client.shutdown(.cancel)
    }

    @Test func whatThrowsChangesNothing() {
        struct Refused: Error {}
        let client = Client.stubbed(StubTransport())
        #expect(throws: Refused.self) {
            try client.reconfigure { settings in
                settings.baseURL = "http://other/"
                throw Refused()
            }
        }
        #expect(client.settings.baseURL == "http://test/")
    }

    @Test func badSettingsFailRequests() throws {
        let client = Client.stubbed(StubTransport())
        client.reconfigure { $0.baseURL = "nonsense" }
        #expect(throws: ErrandError.invalidURL) { try client.describe(Ask()) }
        #expect(throws: ErrandError.invalidURL) { try client.describe(Ask(path: "http://h/")) }
        client.reconfigure { $0.baseURL = nil }
        #expect(try client.describe(Ask(path: "http://h/")).url == "http://h/")
        client.reconfigure { $0.timeouts.idle = .after(.zero) }
        #expect(throws: ErrandError.invalidLimit) { try client.describe(Ask(path: "http://h/")) }
    }

    /// Each change adds one to a count in the settings; none is lost, and no request sees half of one.
    @Test func changesOfManyThreads() throws {
        let client = Client.stubbed(StubTransport()) {
            $0.baseURL = "http://0/"; $0.userAgent = "0"
        }
        let torn = Notes<String>()
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for _ in 0..<200 {
                if thread < 4 {
                    client.reconfigure { settings in
                        let next = "\((Int(settings.userAgent ?? "") ?? 0) + 1)"
                        settings.userAgent = next
                        settings.baseURL = "http://\(next)/"
                    }
                } else if let description = try? client.describe(Ask()) {
                    let agent = description.headers[.userAgent] ?? ""
                    if description.url != "http://\(agent)/x" { torn.add(description.url) }
                }
            }
        }
        #expect(client.settings.userAgent == "800")
        #expect(torn.all.isEmpty)
    }
}
