import Errand
import ErrandTesting
import HTTPTypes
import Logging
import Synchronization
import Testing

/// The code of the guide "Hooks"; GuideTests compares it line by line.
@Suite struct HooksSnippets {
    final class BusyCounter: Accessory {
        private let count = Mutex(0)
        var isBusy: Bool { count.withLock { $0 > 0 } }

        func requestWillStart(_ request: AnyRequest) { count.withLock { $0 += 1 } }
        func requestDidStop(_ request: AnyRequest) { count.withLock { $0 -= 1 } }
    }

    final class HopCounter: EventAccessory {
        let hops = Mutex(0)

        func request(_ request: AnyRequest, did event: RequestEvent) {
            if case .redirected = event { hops.withLock { $0 += 1 } }
        }
    }

    struct Signing: Interceptor {
        var sign: @Sendable ([UInt8]) -> String

        func prepare(
            _ request: RequestDescription, in context: InterceptionContext
        ) async throws -> RequestDescription {
            var request = request
            var fields = request.headers.fields
            fields[.authorization] = sign(request.bodyBytes)
            request.headers = HeaderBlock(fields)
            return request
        }
    }

    struct Transfer: Command {
        var path: String { "transfer" }
        struct Response: Decodable, Sendable { var code: Int }
        struct Rejected: Error { var code: Int }

        var validator: (@Sendable (Response, Errand.Response) async throws -> Void)? {
            { value, _ in if value.code != 0 { throw Rejected(code: value.code) } }
        }
        var failureFilter: (@Sendable (Request<Self>) -> Void)? {
            { request in print(request.error?.shortDescription ?? "") }
        }
    }

    static func configured() -> Client.Configuration {
        var redaction = Redaction.standard
        redaction.headers.insert("X-Tenant-Key")
        redaction.parameters.insert("invite")
        var configuration = Client.Configuration(baseURL: "https://api.example.com/")
        configuration.accessories = [
            LoggingAccessory(Logger(label: "http"), levels: .init(success: .debug), redaction: redaction),
            CurlAccessory(Logger(label: "http"), level: .trace),
        ]
        return configuration
    }

    static func watched(_ request: AnyRequest) {
        request.addAccessory(
            ProgressAccessory(.download) { progress in
                print(progress.fraction ?? 0, progress.bytesPerSecond)
            })
    }

    @Test func hooks() async throws {
        let counter = BusyCounter()
        var configuration = Self.configured()
        configuration.accessories += [counter, HopCounter()]
        let stub = StubTransport()
        let client = Client(configuration: configuration, transport: stub)
        let request = client.request(Transfer())
        Self.watched(request)
        request.start()
        #expect(counter.isBusy)
        stub.completeAll { _ in .response(Response(statusCode: 200, body: Array(#"{"code": 0}"#.utf8))) }
        await client.shutdown()
        #expect(!counter.isBusy && request.value?.code == 0)
    }
}
