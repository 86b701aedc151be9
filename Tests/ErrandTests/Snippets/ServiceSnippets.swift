import Errand
import Testing

/// The code of the guide "In a service" that needs no other module; GuideTests compares it line by line.
@Suite struct ServiceSnippets {
    static func shared() async throws -> Response {
        let page = try await Client.shared.run(RawCommand(url: "https://example.com/"))
        return page
    }

    /// The engine starts with the first client and ends with the last one; nothing is sent.
    @Test func clientsShareAnEngine() async {
        var configuration = Client.Configuration(baseURL: "https://users.internal/")
        configuration.sharedEngine = .named("service")
        let users = Client(configuration: configuration)
        configuration.baseURL = "https://orders.internal/"
        let orders = Client(configuration: configuration)
        #expect(users.settings.baseURL != orders.settings.baseURL)
        await users.shutdown()
        #expect(!orders.isShutDown)
        await orders.shutdown()
    }
}
