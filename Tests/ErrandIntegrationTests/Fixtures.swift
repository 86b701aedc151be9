import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Testing

/// One nginx for all suites; it ends with the process.
enum Nginx {
    static let shared = Result { try NginxServer() }

    static func client(_ change: (inout Client.Configuration) -> Void = { _ in }) throws -> Client {
        let server = try shared.get()
        var configuration = Client.Configuration.patient(baseURL: server.url("/"), loops: 2)
        change(&configuration)
        return Client(configuration: configuration)
    }
}

extension Client.Configuration {
    /// On a busy machine the library's 10 s to connect may be over before libcurl looks at the socket. The 60 s without a
    /// byte may be over before a task of the test has made the next part of an upload. The 50 s of an idle connection may
    /// be over before a task of the test has sent the next request.
    static func patient(baseURL: String? = nil, loops: Int? = nil) -> Self {
        var configuration = Self(
            baseURL: baseURL, timeouts: Timeouts(connect: .seconds(3600), idle: .seconds(3600)), loops: loops)
        configuration.connection.idleConnectionSeconds = 3600
        return configuration
    }
}

struct Get: Command {
    var path: String
    var method = HTTPRequest.Method.get
    var headers = HTTPFields()
    var body = RequestBody.empty
    var timeouts: Timeouts?
    var limits: Limits?
    var connection: ConnectionOptions?
    var options: CommandOptions = []
    typealias Response = Errand.Response
}

extension Client {
    /// Runs `body` with a client and shuts it down, whatever happens.
    static func with<Value>(
        _ client: Client, _ body: (Client) async throws -> Value
    ) async throws -> Value {
        do {
            let value = try await body(client)
            await client.shutdown()
            return value
        } catch {
            await client.shutdown(.cancel)
            throw error
        }
    }
}

extension ScriptedServer {
    /// `wait(for:)` on a thread of its own: it blocks, and the pool's threads are needed for what is waited for.
    func hasSeen(_ counts: Counts) async -> Bool {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: self.wait(for: counts, seconds: 240)) }
        }
    }
}
