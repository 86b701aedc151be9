public import Errand
public import HTTPTypes
import Synchronization

/// A transport that answers requests by their method and path, without a network.
///
/// ```swift
/// let router = StubRouter()
/// router.on(.get, "/users/{id}") { request in
///     .json(#"{"id": \#(request.parameters["id"] ?? "0"), "name": "Ada"}"#)
/// }
/// let client = Client(configuration: .init(baseURL: "http://test/"), transport: router)
/// _ = try await client.run(GetUser(id: 1))
/// try router.history.expect(.get, "/users/1")
/// ```
///
/// A request that no route matches fails with ``/Errand/ErrandError/unexpectedRequest``, and the message lists the routes.
/// It keeps the rules of ``/Errand/Transport``: streamed bodies within the credit, one end for each submission. Any thread.
public final class StubRouter: Transport {
    /// Answers a request. It runs in a task that is cancelled when the transfer ends, by the request's total timeout for
    /// example. An ``/Errand/ErrandError`` that it throws is the failure of the transfer; any other error becomes the
    /// `underlyingError` of an ``/Errand/ErrandError/unexpectedRequest``.
    public typealias Handler = @Sendable (StubRequest) async throws -> StubResponse

    private enum Answer: Sendable {
        /// Without a task, so that a test sees only the delay of the answer on its clock.
        case fixed(StubResponse)
        case handled(Handler)
    }

    private struct Route: Sendable {
        let method: HTTPRequest.Method?
        let pattern: PathPattern
        let answer: Answer

        var name: String { "\(method?.rawValue ?? "any method") \(pattern.text)" }
    }

    /// The requests that came.
    public let history: CallHistory
    private let routes = Mutex<[Route]>([])
    private let bodyLimit: Int
    private let table: TransferTable

    /// Makes a router without routes.
    ///
    /// - Parameters:
    ///   - clock: The clock of delays, stalls and timeouts. Default: the continuous clock.
    ///   - historyLimit: The most calls that ``history`` keeps. Default: 10,000.
    ///   - historyBodyLimit: The most bytes of all bodies in ``history`` together. Beyond that the oldest calls lose their
    ///     bodies (``StubRequest/isBodyDropped``). Default: 64 MiB.
    ///   - bodyLimit: The most bytes of a request's body that is streamed or comes from a file. A request with a longer
    ///     body has no route, and fails with ``/Errand/ErrandError/unexpectedRequest``. Default: 64 MiB.
    public init(
        clock: any Clock<Duration> = ContinuousClock(), historyLimit: Int = 10_000, historyBodyLimit: Int = 64 << 20,
        bodyLimit: Int = 64 << 20
    ) {
        self.bodyLimit = max(0, bodyLimit)
        history = CallHistory(limit: historyLimit, bodyLimit: historyBodyLimit)
        table = TransferTable(over: nil, "errand.router", clock: clock)
    }

    /// Adds a route. If several routes match, the one that was added last answers, so that a test can replace a route
    /// of its fixture.
    ///
    /// - Parameters:
    ///   - method: `nil`: any.
    ///   - path: `/users/{id}` with a parameter; `*` is one segment, and `**` at the end any number of them. A pattern
    ///     with a scheme and a host matches only this origin. The query does not matter.
    ///   - handler: Answers the requests.
    /// - Returns: The router, to add another route.
    @discardableResult
    public func on(_ method: HTTPRequest.Method?, _ path: String, _ handler: @escaping Handler) -> StubRouter {
        add(Route(method: method, pattern: PathPattern(path), answer: .handled(handler)))
    }

    /// Adds a route that always answers the same.
    ///
    /// - Parameters:
    ///   - method: `nil`: any.
    ///   - path: As in the other method.
    ///   - response: The answer.
    /// - Returns: The router, to add another route.
    @discardableResult
    public func on(_ method: HTTPRequest.Method?, _ path: String, answering response: StubResponse) -> StubRouter {
        add(Route(method: method, pattern: PathPattern(path), answer: .fixed(response)))
    }

    private func add(_ route: Route) -> StubRouter {
        routes.withLock { $0.append(route) }
        return self
    }

    private func answer(_ transfer: PlayedTransfer, _ body: [UInt8]) {
        let description = transfer.description
        let routes = routes.withLock { $0 }
        for route in routes.reversed() where route.method == nil || route.method == description.method {
            guard let parameters = route.pattern.parameters(of: description.url) else { continue }
            let request = StubRequest(description, body: body, parameters: parameters)
            history.add(request, route: route.name)
            switch route.answer {
            case .fixed(let response):
                transfer.play(response.script(for: description))
            case .handled(let handler):
                transfer.awaitScript()
                transfer.run { transfer.play(await Self.script(request, by: handler, of: route.name)) }
            }
            return
        }
        history.add(StubRequest(description, body: body, parameters: [:]), route: nil)
        transfer.play(TransferScript(Self.unmatched(description, routes.map(\.name))))
    }

    /// Fails a request whose body is longer than the limit.
    private func refuse(_ transfer: PlayedTransfer, _ beginning: [UInt8]) {
        let description = transfer.description
        history.add(StubRequest(description, body: beginning, parameters: [:]), route: nil)
        let request = "\(description.method.rawValue) \(Redaction.standard.url(description.url))"
        let error = ErrandError.unexpectedRequest.with(
            message: "the body of \(request) has more than \(bodyLimit) bytes; raise the router's bodyLimit",
            isRefusal: true)
        transfer.play(TransferScript(error))
    }

    /// `route`: its name.
    private static func script(
        _ request: StubRequest, by handler: Handler, of route: String
    ) async -> TransferScript {
        do {
            return try await handler(request).script(for: request.transfer)
        } catch let error as ErrandError {
            return TransferScript(error)
        } catch is CancellationError {
            return TransferScript(ErrandError.cancelled)
        } catch {
            return TransferScript(
                ErrandError.unexpectedRequest.with(
                    message: "the handler of \(route) threw: \(error)", underlying: error))
        }
    }

    private static func unmatched(_ description: RequestDescription, _ routes: [String]) -> ErrandError {
        let request = "\(description.method.rawValue) \(Redaction.standard.url(description.url))"
        let list = routes.isEmpty ? "; there is none" : "; the routes are:\n  " + routes.joined(separator: "\n  ")
        return .unexpectedRequest.with(message: "no route matches \(request)" + list, isRefusal: true)
    }

    /// Ends all transfers. The client does not do this, because it only borrows the transport.
    public func stop() async {
        await withCheckedContinuation { continuation in
            shutdown { continuation.resume() }
        }
    }

    // MARK: Transport

    /// Answers with a route. A request whose body the program writes is answered when its body is complete.
    public func submit(
        _ description: RequestDescription, for receiver: TransferReceiver
    ) throws(ErrandError) -> TransferID {
        let (id, transfer) = try table.play(description, for: receiver, uploadLimit: bodyLimit)
        guard !description.isWritten else {
            transfer.awaitScript()
            return id
        }
        let body = description.readBody(atMost: bodyLimit)
        if case .file = description.body, body.count > bodyLimit {
            refuse(transfer, Array(body.prefix(bodyLimit)))
        } else {
            answer(transfer, body)
        }
        return id
    }

    /// Ends a transfer with ``/Errand/ErrandError/cancelled``.
    public func cancel(_ id: TransferID) { table.cancel(id) }
    /// Stops reports until ``resume(_:)``.
    public func pause(_ id: TransferID) { table.pause(id) }
    /// Continues after ``pause(_:)``.
    public func resume(_ id: TransferID) { table.resume(id) }
    /// Grants credit for more bytes of a streamed body.
    public func grant(_ id: TransferID, bytes: Int) { table.grant(id, bytes: bytes) }
    /// Takes bytes of an upload.
    public func write(_ bytes: UnsafeRawBufferPointer, to id: TransferID) {
        table.write(bytes, to: id) { self.refuse($0, $1) }
    }
    /// Takes bytes of an upload.
    public func write(shared bytes: SharedBytes, to id: TransferID) { bytes.withUnsafeBytes { write($0, to: id) } }
    /// The upload is complete, and is answered now.
    public func finishUpload(_ id: TransferID) { table.finishUpload(id) { self.answer($0, $1) } }
    /// Ends a transfer with ``/Errand/ErrandError/uploadFailed``.
    public func failUpload(_ id: TransferID) { table.failUpload(id) }
    /// Forgets what was written so far.
    public func restartUpload(_ id: TransferID, after attempt: Int) { table.restartUpload(id, after: attempt) }
    /// No effect: the router reads files when they are sent.
    public func filesMayHaveChanged() {}
    /// Ends all transfers, then calls `stopped`.
    public func shutdown(_ stopped: @escaping @Sendable () -> Void) { table.shutdown(stopped) }
}
