import Errand
import ErrandNIO
import ErrandTesting
import NIOCore
import Testing

/// Code of users, who have no access to the internals.
@Suite(.timeLimit(.minutes(20))) struct SharedBytesTests {
    private struct Put: Command {
        let path = "put"
        let method = HTTPRequest.Method.put
        let body = RequestBody.string("replaced")
        typealias Response = Errand.Response
    }

    private struct Replacing: Interceptor {
        let buffer: ByteBuffer

        func intercept(
            _ request: RequestDescription, in context: InterceptionContext, next: Next
        ) async throws -> Errand.Response {
            var request = request
            request.body = .shared(SharedBytes(buffer))
            return try await next(request)
        }
    }

    @Test func anInterceptorSendsABuffer() async throws {
        let server = try ScriptedServer()
        try server.on("/put", [.readBody, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")])
        var buffer = ByteBuffer(repeating: 7, count: 10_000)
        buffer.moveReaderIndex(forwardBy: 1000)
        var configuration = Client.Configuration(baseURL: server.url("/"), loops: 1)
        configuration.timeouts = Timeouts(connect: .seconds(240), idle: .seconds(3600))
        configuration.interceptors = [Replacing(buffer: buffer)]
        let client = Client(configuration: configuration)
        _ = try await client.run(Put())
        #expect(server.requests.first?.body == [UInt8](repeating: 7, count: 9000))
        await client.shutdown()
    }

    @Test func theBytesStayWhereTheyAre() {
        var buffer = ByteBuffer(repeating: 7, count: 100)
        buffer.moveReaderIndex(forwardBy: 10)
        let place = buffer.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
        let bytes = SharedBytes(buffer)
        #expect(bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } == place)
        buffer.setInteger(UInt8(1), at: 10)
        #expect(bytes.copy() == [UInt8](repeating: 7, count: 90))
    }
}
