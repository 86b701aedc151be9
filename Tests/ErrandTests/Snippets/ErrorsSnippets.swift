import Errand
import ErrandTesting
import Testing

/// The code of the guide "Errors"; GuideTests compares it line by line.
@Suite struct ErrorsSnippets {
    private typealias GetUser = GettingStartedSnippets.GetUser

    static func caught(_ client: Client) async throws {
        do {
            print(try await client.run(GetUser(id: 1)).name)
        } catch let error as ErrandError where error.statusCode == 404 {
            print("no such user")
        } catch ErrandError.statusNotAccepted {
            print("refused")
        } catch let error as ErrandError where error.isTimeout {
            print("try later: \(error.shortDescription)")
        } catch is CancellationError {
            print("stopped")
        }
    }

    static func switched(_ client: Client) async {
        switch await client.result(of: GetUser(id: 1)) {
        case .success(let user): print(user.name)
        case .failure(.connectFailed), .failure(.resolveFailed): print("not reachable")
        case .failure(let error): print(error)
        }
    }

    static func read(_ error: ErrandError) {
        struct Problem: Decodable { var title: String }
        if let problem = try? error.response?.decode(Problem.self) {
            print(problem.title)
        }
    }

    @Test(arguments: [ErrandError.timeoutIdle, .connectFailed])
    func errors(failure: ErrandError) async throws {
        let stub = StubTransport { _ in .failure(failure) }
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: stub)
        await Self.switched(client)
        if failure.isTimeout { try await Self.caught(client) }
        Self.read(failure)
        await client.shutdown()
    }
}
