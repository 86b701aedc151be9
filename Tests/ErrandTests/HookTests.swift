import Dispatch
import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient

/// A command whose every hook notes that it ran.
private struct Hooked: Command {
    let order: Notes<String>
    var path = "hooked"
    var isValid = true
    var interceptors: [any Interceptor] = []
    typealias Response = String

    struct Invalid: Error {}

    var validator: (@Sendable (String, Errand.Response) async throws -> Void)? {
        { [order, isValid] value, response in
            order.add("validate \(value) \(response.statusCode)")
            if !isValid { throw Invalid() }
        }
    }
    var successPreprocessor: (@Sendable (String, Errand.Response) async -> Void)? {
        { [order] value, _ in order.add("preprocess \(value)") }
    }
    var failurePreprocessor: (@Sendable (ErrandError) async -> Void)? {
        { [order] error in order.add("preprocess \(error.shortDescription)") }
    }
    var successFilter: (@Sendable (Request<Hooked>) -> Void)? {
        { [order] request in order.add("filter \(request.value ?? "-")") }
    }
    var failureFilter: (@Sendable (Request<Hooked>) -> Void)? {
        { [order] request in order.add("filter \(request.error?.shortDescription ?? "-")") }
    }
}

private final class Delegate: RequestDelegate {
    let order: Notes<String>
    init(_ order: Notes<String>) { self.order = order }
    func requestFinished(_ request: AnyRequest) { order.add("delegate finished") }
    func requestFailed(_ request: AnyRequest) { order.add("delegate failed") }
}

private final class Watcher: Accessory {
    let order: Notes<String>
    init(_ order: Notes<String>) { self.order = order }
    func requestWillStart(_ request: AnyRequest) { order.add("willStart") }
    func requestWillStop(_ request: AnyRequest) { order.add("willStop") }
    func requestDidStop(_ request: AnyRequest) { order.add("didStop") }
}

@Suite struct HookTests {
    /// The order of everything that is told, on one path.
    private func order(
        _ answer: StubTransport.Answer, isValid: Bool = true, change: (Request<Hooked>) -> Void = { _ in }
    ) async -> [String] {
        let order = Notes<String>()
        let client = Client.stubbed(StubTransport { _ in answer }) { $0.accessories = [Watcher(order)] }
        let request = client.request(Hooked(order: order, isValid: isValid))
        let delegate = Delegate(order)
        request.delegate = delegate
        request.start(success: { _ in order.add("success") }, failure: { _ in order.add("failure") })
        change(request)
        await client.shutdown()
        await client.callbacksDrained()
        withExtendedLifetime(delegate) {}
        return order.all
    }

    @Test func orderOfASuccess() async {
        #expect(
            await order(.response(status: 200, body: "v")) == [
                "willStart", "validate v 200", "preprocess v", "willStop", "filter v", "delegate finished", "success",
                "didStop",
            ])
    }

    @Test func orderOfAFailure() async {
        let tail = ["willStop", "filter statusNotAccepted", "delegate failed", "failure", "didStop"]
        #expect(
            await order(.response(status: 500, body: "v")) == ["willStart", "preprocess statusNotAccepted"] + tail)
        #expect(
            await order(.response(status: 200, body: "v"), isValid: false) == [
                "willStart", "validate v 200", "preprocess validationFailed", "willStop", "filter validationFailed",
                "delegate failed", "failure", "didStop",
            ])
        #expect(
            await order(.refuse(.queueFull)) == [
                "willStart", "preprocess queueFull", "willStop", "filter queueFull", "delegate failed", "failure",
                "didStop",
            ])
    }

    @Test func orderOfAStop() async {
        #expect(await order(.hold, change: { $0.stop() }) == ["willStart", "willStop", "didStop"])
    }

    @Test func theValidatorsErrorIsKept() async throws {
        let client = Client.stubbed(StubTransport { _ in .response(status: 200, body: "v") })
        guard case .failure(let error) = await client.result(of: Hooked(order: Notes(), isValid: false)) else {
            return #expect(Bool(false), "it succeeded")
        }
        #expect(error == .validationFailed)
        #expect(error.underlyingError is Hooked.Invalid)
        #expect(error.statusCode == 200)
        #expect(!error.isRefusal)
        await client.shutdown()
    }

    @Test func anAsyncCallerHearsOfHooksToo() async throws {
        let order = Notes<String>()
        let client = Client.stubbed(StubTransport { _ in .response(status: 200, body: "v") })
        #expect(try await client.run(Hooked(order: order)) == "v")
        #expect(order.all == ["validate v 200", "preprocess v", "filter v"])
        await client.shutdown()
    }

    /// A filter that stops the request keeps delegate and closures silent; one that starts it again starts it after.
    @Test func aStopInTheFilter() async {
        struct StopsItself: Command {
            var path: String { "x" }
            var successFilter: (@Sendable (Request<StopsItself>) -> Void)? { { $0.stop() } }
        }
        let order = Notes<String>()
        let client = Client.stubbed(StubTransport { _ in .response(status: 200) })
        let request = client.request(StopsItself())
        let delegate = Delegate(order)
        request.delegate = delegate
        request.start(success: { _ in order.add("success") })
        await client.shutdown()
        #expect(order.all == [])
        withExtendedLifetime(delegate) {}
    }

    /// A large body is decoded elsewhere, and the end is told on the callback queue all the same.
    @Test func largeBodiesAreDecodedOffTheCallbackQueue() async {
        struct GetWhere: Command {
            var path: String { "x" }
            struct Response: Sendable { var isOnQueue: Bool }
            static let key = DispatchSpecificKey<Bool>()
            func decode(_ response: Errand.Response) throws -> Response {
                Response(isOnQueue: DispatchQueue.getSpecific(key: Self.key) == true)
            }
        }
        for (size, expected) in [(100, true), (65536, false)] {
            let queue = DispatchQueue(label: "here")
            queue.setSpecific(key: GetWhere.key, value: true)
            let body = String(repeating: "x", count: size)
            let client = Client.stubbed(StubTransport { _ in .response(status: 200, body: body) }) {
                $0.callbackQueue = .dispatchQueue(queue)
            }
            let seen: (Bool?, Bool) = await withCheckedContinuation { continuation in
                client.start(GetWhere()) { request in
                    let isToldThere = DispatchQueue.getSpecific(key: GetWhere.key) == true
                    continuation.resume(returning: (request.value?.isOnQueue, isToldThere))
                }
            }
            #expect(seen.0 == expected)
            #expect(seen.1)
            await client.shutdown()
        }
    }

    /// All closures are released at the end, on every path.
    @Test(arguments: ["success", "failure", "stop", "refusal"])
    func closuresAreReleased(path: String) async {
        final class Held: Sendable {}
        weak var held: Held?
        let answer: StubTransport.Answer =
            switch path {
            case "success": .response(status: 200)
            case "failure": .response(status: 500)
            case "refusal": .refuse(.queueFull)
            default: .hold
            }
        let client = Client.stubbed(StubTransport { _ in answer })
        let request = client.request(Hooked(order: Notes()))
        do {
            let made = Held()
            held = made
            request.onProgress { [made] _ in _ = made }
            request.start(success: { [made] _ in _ = made }, failure: { [made] _ in _ = made })
        }
        if path == "stop" { request.stop() }
        await client.shutdown()
        await client.callbacksDrained()
        #expect(held == nil)
        #expect(request.state.isFinished)
    }
}
