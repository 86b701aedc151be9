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

        func requestWillStop(_ request: AnyRequest) {}
    }

    final class HopCounter: EventAccessory {
        let hops = Mutex(0)

        func request(_ request: AnyRequest, did event: RequestEvent) {
            if case .redirected = event { hops.withLock { $0 += 1 } }
        }

        func requestWillStart(_ request: AnyRequest) {}
        func requestWillStop(_ request: AnyRequest) {}
        func requestDidStop(_ request: AnyRequest) {}
    }

    final class AuditLog: Accessory {
        let callbackQueue: CallbackQueue? = .serial(label: "audit")
        let lines = Mutex<[String]>([])

        func requestDidStop(_ request: AnyRequest) {
            let ending = request.error?.shortDescription ?? "ok"
            lines.withLock { $0.append("\(request.id) \(ending)") }
        }

        func requestWillStart(_ request: AnyRequest) {}
        func requestWillStop(_ request: AnyRequest) {}
    }

    final class Screen: RequestDelegate {
        let text = Mutex("")

        func requestFinished(_ request: AnyRequest) { text.withLock { $0 = "done" } }
        func requestFailed(_ request: AnyRequest) { text.withLock { $0 = request.error?.shortDescription ?? "" } }
    }

    typealias PatientOnce = InterceptorsSnippets.PatientOnce

    struct PatientAgain: ReplayingInterceptor {
        func replays(after result: TransferResult, in context: InterceptionContext) async throws -> Bool {
            guard case .response(let response) = result, response.statusCode == 503, context.replays == 0 else {
                return false
            }
            try await Task.sleep(for: .milliseconds(100))
            return true
        }
    }

    actor Ledger {
        static let shared = Ledger()
        private(set) var codes: [Int] = []
        func add(_ code: Int) { codes.append(code) }
    }

    struct Transfer: Command {
        var path: String { "transfer" }
        struct Response: Codable, Sendable { var code: Int }
        struct Rejected: Error { var code: Int }

        var validator: (@Sendable (Response, Errand.Response) async throws -> Void)? {
            { value, _ in if value.code != 0 { throw Rejected(code: value.code) } }
        }
        var successPreprocessor: (@Sendable (Response, Errand.Response) async -> Void)? {
            { value, _ in await Ledger.shared.add(value.code) }
        }
        var failurePreprocessor: (@Sendable (ErrandError) async -> Void)? {
            { error in if error == .validationFailed { await Ledger.shared.add(-1) } }
        }
        var successFilter: (@Sendable (Request<Self>) -> Void)? {
            { request in print(request.value?.code ?? 0) }
        }
        var failureFilter: (@Sendable (Request<Self>) -> Void)? {
            { request in print(request.error?.shortDescription ?? "") }
        }
    }

    /// Compiled and not run: a process may do this once.
    static func logged() {
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = .debug
            return handler
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
                print(progress.fraction ?? 0, progress.bytesPerSecond ?? 0)
            })
    }

    static func delegated(_ client: Client, to screen: Screen) -> Request<Transfer> {
        let request = client.request(Transfer())
        request.delegate = screen
        request.start()
        return request
    }

    static func otherwise(_ client: Client) async throws -> Transfer.Response {
        var overrides = RequestOverrides()
        overrides.headers = [.acceptLanguage: "de"]
        overrides.timeouts = Timeouts(idle: .seconds(5))
        overrides.acceptedStatusCodes = [200, 404]
        overrides.interceptors = [PatientOnce()]
        let value = try await client.run(Transfer(), overrides: overrides)
        return value
    }

    @Test func watching() async throws {
        let counter = BusyCounter()
        var configuration = Self.configured()
        configuration.accessories += [counter, HopCounter()]
        let stub = StubTransport()
        let client = Client(configuration: configuration, transport: stub)
        let screen = Screen()
        let request = Self.delegated(client, to: screen)
        #expect(counter.isBusy)
        stub.completeAll { _ in .response(Response(statusCode: 200, body: Array(#"{"code": 0}"#.utf8))) }
        await client.shutdown()
        #expect(!counter.isBusy && request.value?.code == 0)
        #expect(screen.text.withLock { $0 } == "done")
        Self.watched(request)
        #expect(await Ledger.shared.codes.contains(0))
    }

    /// It is told to wait, is sent again, and answers 404, which is accepted; the validator has the last word.
    @Test func otherwise() async throws {
        let count = Atomic<Int>(0)
        let stub = StubTransport { _ in
            count.wrappingAdd(1, ordering: .relaxed).newValue == 1
                ? .response(status: 503) : .response(status: 404, body: #"{"code": 7}"#)
        }
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: stub)
        let error = await #expect(throws: ErrandError.self) { try await Self.otherwise(client) }
        #expect(error == .validationFailed && (error?.underlyingError as? Transfer.Rejected)?.code == 7)
        #expect(stub.submitted.map { $0.headers[.acceptLanguage] } == ["de", "de"])
        #expect(await Ledger.shared.codes.contains(-1))
        await client.shutdown()
    }
}
