// The lines between the two marks are those of README.md; scripts/checks/readme-example compares them.
// README begins
import Errand

struct GetUser: Command {
    var id: Int
    var path: String { "users/\(id)" }
    struct Response: Decodable, Sendable { var name: String }
}

struct Register: Command {
    var name: String
    var method: HTTPRequest.Method { .post }
    var path: String { "users" }
    var body: RequestBody { .json(["name": name]) }
    struct Response: Decodable, Sendable { var id: Int }
}

func example(server: String) async throws {
    let client = Client(configuration: .init(baseURL: server))
    let user = try await client.run(GetUser(id: 1))  // cancelled with its task
    client.start(Register(name: user.name)) { request in  // called once, on the client's queue
        print(request.value?.id ?? 0, request.error?.shortDescription ?? "no error")
    }
    await client.shutdown(.drain(within: .seconds(30)))
}
// README ends
