import ErrandTesting
import Testing

@Suite struct ReadmeExampleTests {
    @Test func theExampleRuns() async throws {
        let server = try ScriptedServer()
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
        try server.on("/users/1", [.send(head + "15\r\n\r\n{\"name\": \"Ada\"}")])
        try server.on("/users", [.readBody, .send(head + "9\r\n\r\n{\"id\": 2}")])
        try await example(server: server.url())
        #expect(server.requests.map(\.method) == ["GET", "POST"])
        #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["", "{\"name\":\"Ada\"}"])
    }
}
