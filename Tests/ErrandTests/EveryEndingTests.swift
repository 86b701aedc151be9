import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandModel

/// Every way a request can end, and on each: who is told, in which order, once, and that nothing is kept.
@Suite(.timeLimit(.minutes(20))) struct EveryEndingTests {
    enum Path: String, CaseIterable {
        case success, status, contentType, decoding, shape, validator, transportFailure, refusal, building
        case failingPrepare, hangingPrepare, hangingValidator, failingTransform, totalTimeout
        case redirect, redirectFailure, replay, replayFailure
        case stopAtOnce, stopInFlight, stopWhilePreparing, stopWhileValidating
        case shutdown, shutdownWhilePreparing, shutdownWhileValidating, startAfterShutdown, transportShutDown
        case validatorShutDown

        var ending: String {
            switch self {
            case .success, .redirect, .replay: "success"
            case .status: "statusNotAccepted"
            case .contentType: "contentTypeNotAccepted"
            case .decoding: "responseDecodingFailed"
            case .shape: "shapeMismatch"
            case .validator: "validationFailed"
            case .transportFailure: "connectionLost"
            case .refusal: "queueFull"
            case .building: "unsupportedScheme"
            case .failingPrepare, .failingTransform: "interceptionFailed"
            case .hangingPrepare, .hangingValidator, .totalTimeout: "timeoutTotal"
            case .redirectFailure: "tooManyRedirects"
            case .replayFailure: "uploadNotReplayable"
            case .stopAtOnce, .stopInFlight, .stopWhilePreparing, .stopWhileValidating: "stop"
            case .shutdown, .shutdownWhilePreparing, .shutdownWhileValidating, .startAfterShutdown,
                .transportShutDown, .validatorShutDown:
                "shutDown"
            }
        }
    }

    private struct Failure: Error {}

    /// Stands for whatever a closure of the user's holds.
    private final class Held: Sendable {}

    private struct Step: StepwiseInterceptor {
        let path: Path
        let reached: @Sendable () -> Void

        private func forever() async {
            reached()
            // Pause: a hook that never ends.
            await Task.detached { try? await Task.sleep(for: .seconds(3600)) }.value
        }

        func prepare(_ request: RequestDescription, in context: InterceptionContext) async throws -> RequestDescription
        {
            switch path {
            case .failingPrepare: throw Failure()
            case .hangingPrepare, .stopWhilePreparing, .shutdownWhilePreparing: await forever()
            default: break
            }
            return request
        }
        func replays(after result: TransferResult, in context: InterceptionContext) async throws -> Bool {
            path == .replay && context.replays == 0 || path == .replayFailure
        }
        func transform(_ response: Response, in context: InterceptionContext) async throws -> Response {
            if path == .failingTransform { throw Failure() }
            return response
        }
    }

    private struct Ask: Command {
        let steps: Step
        let order: Notes<String>
        struct Response: Decodable, Sendable { var id: Int }

        var path: String { steps.path == .building ? "ftp://a/" : "x" }
        var method: HTTPRequest.Method { .put }
        var body: RequestBody {
            guard steps.path == .replayFailure else { return .string("again") }
            return .stream(AsyncStream<[UInt8]> { $0.finish() })
        }
        var interceptors: [any Interceptor] { [steps] }
        var redirects: RedirectPolicy? { .follow(limit: 1) }
        var acceptedContentTypes: ContentTypes { .json }
        var shape: JSONShape? { .object(["id": .integer, "tag": .optional(.string)]) }
        var timeouts: Timeouts? {
            switch steps.path {
            case .hangingPrepare, .hangingValidator: Timeouts(total: .milliseconds(20))
            // The transport says that it has passed; the client's own clock could end it before it gets there.
            case .totalTimeout: Timeouts(total: .seconds(600))
            default: nil
            }
        }
        var validator: (@Sendable (Response, Errand.Response) async throws -> Void)? {
            { [steps] _, _ in
                switch steps.path {
                case .validator: throw Failure()
                // Of another client, which the validator has asked.
                case .validatorShutDown: throw ErrandError.shutDown
                case .hangingValidator, .stopWhileValidating, .shutdownWhileValidating:
                    steps.reached()
                    // Pause: a hook that never ends.
                    await Task.detached { try? await Task.sleep(for: .seconds(3600)) }.value
                default: break
                }
            }
        }
        var successPreprocessor: (@Sendable (Response, Errand.Response) async -> Void)? {
            { [order] _, _ in order.add("preprocess") }
        }
        var failurePreprocessor: (@Sendable (ErrandError) async -> Void)? { { [order] _ in order.add("preprocess") } }
        var successFilter: (@Sendable (Request<Self>) -> Void)? { { [order] _ in order.add("filter") } }
        var failureFilter: (@Sendable (Request<Self>) -> Void)? { { [order] _ in order.add("filter") } }
    }

    private final class Watcher: EventAccessory, RequestDelegate {
        let order: Notes<String>
        init(_ order: Notes<String>) { self.order = order }
        func requestWillStart(_ request: AnyRequest) { order.add("willStart") }
        func requestWillStop(_ request: AnyRequest) { order.add("willStop") }
        func requestDidStop(_ request: AnyRequest) { order.add("didStop") }
        func requestFinished(_ request: AnyRequest) { order.add("delegate success") }
        func requestFailed(_ request: AnyRequest) { order.add("delegate failure") }
        func request(_ request: AnyRequest, did event: RequestEvent) {}
    }

    private func answer(_ path: Path, _ count: Int) -> StubTransport.Answer {
        func json(_ text: String, status: Int = 200, _ more: HTTPFields = [:]) -> StubTransport.Answer {
            var fields = more
            fields[.contentType] = path == .contentType ? "text/html" : "application/json"
            return .response(Response(statusCode: status, headers: fields, body: Array(text.utf8)))
        }
        switch path {
        case .status: return json("{}", status: 500)
        case .decoding: return json("{]")
        case .shape: return json(#"{"id": 1, "tag": 2}"#)
        case .transportFailure: return .failure(.connectionLost)
        case .transportShutDown: return .failure(.shutDown)
        case .refusal: return .refuse(.queueFull)
        case .redirect where count == 1, .redirectFailure: return json("", status: 307, [.location: "/there"])
        case .stopAtOnce, .stopInFlight, .shutdown, .totalTimeout: return .hold
        default: return json(#"{"id": 1}"#)
        }
    }

    @Test(arguments: Path.allCases) func isToldOnceAndKeepsNothing(path: Path) async throws {
        let order = Notes<String>()
        let reached = Atomic(false)
        let count = Atomic(0)
        weak var held: Held?
        weak var gone: Request<Ask>?
        let stub = StubTransport { _ in self.answer(path, count.wrappingAdd(1, ordering: .relaxed).newValue) }
        let client = Client.stubbed(stub)
        do {
            let watcher = Watcher(order)
            let step = Step(path: path) { reached.store(true, ordering: .releasing) }
            let request = client.request(Ask(steps: step, order: order))
            gone = request
            request.addAccessory(watcher)
            request.delegate = watcher
            if path == .startAfterShutdown { await client.shutdown(.cancel) }
            let made = Held()
            held = made
            request.onProgress { [made] _ in _ = made }
            let isStarted = request.start(
                success: { [made] _ in
                    _ = made
                    order.add("closure success")
                },
                failure: { [made] _ in
                    _ = made
                    order.add("closure failure")
                })
            #expect(isStarted)
            switch path {
            case .stopAtOnce: request.stop()
            case .stopInFlight, .shutdown, .totalTimeout:
                try await waitUntil("a transfer is open") { !stub.open.isEmpty }
            case .stopWhilePreparing, .stopWhileValidating, .shutdownWhilePreparing, .shutdownWhileValidating:
                try await waitUntil("the step is reached") { reached.load(ordering: .acquiring) }
            default: break
            }
            if path.ending == "stop" { request.stop() }
            if path == .totalTimeout { stub.complete(stub.open[0], with: .failure(.timeoutTotal)) }
            if path.ending == "shutDown", ![.transportShutDown, .validatorShutDown].contains(path) {
                await client.shutdown(.cancel)
            }
            try await waitUntil("didStop was told") { order.all.contains("didStop") }
            await client.callbacksDrained()

            #expect(request.error?.shortDescription ?? "success" == (path.ending == "stop" ? "cancelled" : path.ending))
            #expect(request.result != nil)
            withExtendedLifetime(watcher) {}
        }
        let isSuccess = path.ending == "success"
        let told = ["filter", "delegate", "closure"].map { name in
            name == "filter" ? name : name + (isSuccess ? " success" : " failure")
        }
        let expected =
            switch path.ending {
            case "stop": ["willStart", "willStop", "didStop"]
            case "shutDown" where path != .validatorShutDown: ["willStart", "willStop"] + told + ["didStop"]
            default: ["willStart", "preprocess", "willStop"] + told + ["didStop"]
            }
        #expect(order.all == expected)
        #expect(held == nil)
        #expect(client.requests.isEmpty)
        await client.shutdown(.cancel)
        // A hung step of the user's keeps what it captured, and its task the request.
        let isHung = [Path.hangingPrepare, .hangingValidator].contains(path) || path.rawValue.contains("While")
        // The pool's thread that ran the last step may hold it for another moment.
        try await waitUntil("the request is gone") { isHung || gone == nil }
    }
}
