import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient

struct GetText: Command {
    var path = "text"
    var method = HTTPRequest.Method.get
    typealias Response = String
}

struct GetRaw: Command {
    var path = "raw"
    var redirects: RedirectPolicy?
    typealias Response = Errand.Response
}

/// What was noted on other threads.
final class Notes<Element: Sendable>: Sendable {
    private let noted = Mutex<[Element]>([])

    func add(_ element: Element) {
        noted.withLock { $0.append(element) }
    }

    var all: [Element] { noted.withLock { $0 } }
}

extension Client {
    /// A client on `stub` with a base URL, `change` applied to its configuration.
    static func stubbed(_ stub: StubTransport, _ change: (inout Configuration) -> Void = { _ in }) -> Client {
        var configuration = Configuration(baseURL: "http://test/")
        change(&configuration)
        return Client(configuration: configuration, transport: stub)
    }

    /// Ends the client as `shutdown(_:)` does by default, with more time for what is under way: its 30 s are too few for
    /// a request whose steps wait long for one of the few threads that all tests share. A request that is left is a fault.
    func shutdown() async {
        let isEnded = Atomic(false)
        shutdown(.drain(within: .seconds(3600))) { isEnded.store(true, ordering: .releasing) }
        do {
            try await waitUntil("the client has shut down") { isEnded.load(ordering: .acquiring) }
        } catch {
            Issue.record("requests do not end: \(requests), \(error)")
            await shutdown(.cancel)
        }
    }

    /// Returns when everything enqueued so far has run, what a stub delivers from a queue of its own included.
    func callbacksDrained() async {
        await ((transport as? BorrowedTransport)?.base as? StubTransport)?.delivered()
        await withCheckedContinuation { continuation in
            callbacks.async { continuation.resume() }
        }
    }
}

extension Request {
    /// A start whose end is told even where the request was stopped.
    func start(notifiesOnStop: Bool, completion: @escaping @Sendable (Request<C>) -> Void) {
        if case .submit(let transfer) = begin(notifiesOnStop: notifiesOnStop, completion: completion) {
            proceed(transfer)
        }
    }
}
