import Errand
import ErrandTesting
import XCTest

private typealias GetUser = GettingStartedSnippets.GetUser

// The code of the guide "Tests without a network" for XCTest; GuideTests compares it line by line.

final class UserTests: XCTestCase {
    private let router = StubRouter()

    func testTheNameIsRead() async throws {
        router.on(.get, "/users/{id}", answering: .json(#"{"name": "Ada"}"#))
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: router)
        let user = try await client.run(GetUser(id: 1))
        XCTAssertEqual(user.name, "Ada")
        try router.history.expect(.get, "/users/1")
        try router.history.expectRoutes()
        await client.shutdown()
    }
}
