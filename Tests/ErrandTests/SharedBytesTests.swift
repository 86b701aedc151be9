import Errand
import ErrandTesting
import Testing

@Suite struct SharedBytesTests {
    @Test(arguments: [0, 1, 5000]) func theBytesOfAnArrayAreCopied(count: Int) {
        var array = [UInt8](repeating: 7, count: count)
        let bytes = SharedBytes(array)
        let place = array.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        if count > 0 {
            #expect(bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } != place)
            array[0] = 1
        }
        #expect(bytes.count == count && bytes.copy() == [UInt8](repeating: 7, count: count))
        #expect(bytes.withUnsafeBytes { Array($0) } == bytes.copy())
    }

    @Test func theCopiesShareTheMemory() {
        weak var owner: AnyObject?
        do {
            let rest: SharedBytes
            do {
                let bytes = SharedBytes([1, 2, 3])
                owner = bytes.owner
                rest = bytes.prefix(2)
            }
            #expect(owner != nil && rest.copy() == [1, 2])
            withExtendedLifetime(rest) {}
        }
        #expect(owner == nil)
    }

    private struct Replacing: Interceptor {
        func intercept(
            _ request: RequestDescription, in context: InterceptionContext, next: Next
        ) async throws -> Errand.Response {
            var request = request
            request.body = .shared(SharedBytes([UInt8](request.bodyBytes.reversed())))
            return try await next(request)
        }
    }

    @Test func anInterceptorMakesThem() async throws {
        let transport = StubTransport { description in
            .response(status: 200, body: String(decoding: description.bodyBytes, as: UTF8.self))
        }
        var configuration = Client.Configuration()
        configuration.interceptors = [Replacing()]
        let client = Client(configuration: configuration, transport: transport)
        let command = RawCommand(method: .post, url: "http://h/", body: .string("abc"))
        #expect(try await client.run(command).body.bytes == Array("cba".utf8))
        await client.shutdown()
    }
}
