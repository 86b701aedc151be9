import Errand
import ErrandTesting
import HTTPTypes
import Testing

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
    await client.shutdown(.drain(within: .seconds(5)))
}

/// The README's example, as it stands there, against a server.
@Suite struct ReadmeExampleTests {
    @Test func runs() async throws {
        let server = try ScriptedServer()
        try server.on("/users/1", [.send("HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n{\"name\":\"ada\"}")])
        try server.on("/users", [.readBody, .send("HTTP/1.1 201 Created\r\nContent-Length: 8\r\n\r\n{\"id\":7}")])
        try await example(server: server.url("/"))
        #expect(server.requests.map(\.method) == ["GET", "POST"])
        #expect(server.requests.last.map { String(decoding: $0.body, as: UTF8.self) } == #"{"name":"ada"}"#)
    }
}
