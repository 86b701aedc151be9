import Errand
import ErrandTesting
import HTTPTypes
import Synchronization

@testable import ErrandClient
@testable import ErrandModel

/// Notes what it hears of the runs and attempts of a client. Its context is a task-local name, which it takes where a
/// request is started.
final class NotingObserver: AttemptObserver {
    @TaskLocal static var name = "nobody"

    /// A field that the observer sets in each attempt: the name and the attempt's number.
    static let field: HTTPField.Name = "X-Attempt"

    /// What has happened, in order: `run GetText by ada`, `0 GET http://test/text by ada`, `0 head 200`, `0 ended 200`,
    /// `0 refused queueFull`, `run succeeded`.
    let notes = Notes<String>()
    /// The attempts that have begun and not ended.
    private let open = Atomic<Int>(0)
    /// Ends beyond the first.
    private let surplus = Atomic<Int>(0)
    private let clients = Atomic<Int>(0)

    var openCount: Int { open.load(ordering: .relaxed) }
    var surplusCount: Int { surplus.load(ordering: .relaxed) }
    var clientCount: Int { clients.load(ordering: .relaxed) }

    /// The notes about the beginnings of attempts.
    var begins: [String] { notes.all.filter { $0.contains(" by ") && !$0.hasPrefix("run") } }
    /// The notes about ends, of attempts and runs.
    var ends: [String] {
        notes.all.filter {
            $0.contains("ended") || $0.contains("refused") || $0.hasPrefix("run succ")
                || $0.hasPrefix("run fail") || $0.hasPrefix("run canc")
        }
    }

    /// Runs `body` as a caller of this name. Not asynchronous, so that `withValue` is not either.
    static func named<Value>(_ name: String, _ body: () -> Value) -> Value {
        $name.withValue(name) { body() }
    }

    func clientMade(_ client: Client) { clients.wrappingAdd(1, ordering: .relaxed) }

    func runBegins(_ description: RequestDescription, _ start: RunStart) -> any ObservedRun {
        let name = Self.name
        notes.add("run \(start.commandName) by \(name)")
        return Run(name: name, self)
    }

    private final class Run: ObservedRun {
        let name: String
        let observer: NotingObserver

        init(name: String, _ observer: NotingObserver) {
            self.name = name
            self.observer = observer
        }

        var hasContext: Bool { true }

        func attemptBegins(
            _ description: RequestDescription, number: Int, of scope: AttemptScope, headers: inout HeaderBlock?
        ) -> any ObservedAttempt {
            observer.open.wrappingAdd(1, ordering: .relaxed)
            observer.notes.add("\(number) \(description.method.rawValue) \(description.url) by \(name)")
            var block = headers ?? description.headers
            try? block.set(NotingObserver.field, to: "\(name) \(number)")
            headers = block
            return NotedAttempt(number, observer)
        }

        func joined(_ opener: any ObservedRun) {
            observer.notes.add("\(name) joined \((opener as? Run)?.name ?? "nobody")")
        }

        func within(_ place: RunPlace, _ body: () -> Void) {
            switch place {
            case .inside: NotingObserver.$name.withValue(name + "/in") { body() }
            case .beside: NotingObserver.$name.withValue(name) { body() }
            }
        }

        func carry<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value {
            await NotingObserver.$name.withValue(name + "/in") { await body() }
        }

        var logMetadata: [String: String] { ["trace_id": "of \(name)"] }

        func ended(_ outcome: RunOutcome, of scope: AttemptScope) {
            observer.notes.add("run \(outcome.kind.rawValue)")
        }
    }

    private final class NotedAttempt: ObservedAttempt {
        let number: Int
        let observer: NotingObserver
        let hasEnded = Atomic<Bool>(false)

        init(_ number: Int, _ observer: NotingObserver) {
            self.number = number
            self.observer = observer
        }

        func headArrived(_ head: Errand.Response, of scope: AttemptScope, _ note: inout AttemptNote) {
            observer.notes.add("\(number) head \(head.statusCode)")
        }

        func repeated(number: Int, of scope: AttemptScope, _ note: inout AttemptNote) {
            observer.notes.add("\(self.number) repeated as \(number)")
        }

        func ended(_ result: TransferResult, of scope: AttemptScope, _ note: inout AttemptNote) {
            switch result {
            case .response(let response): end("ended \(response.statusCode)")
            case .failure(let error): end("ended \(error.shortDescription)")
            }
        }

        func refused(_ error: ErrandError, of scope: AttemptScope, _ note: inout AttemptNote) {
            end("refused \(error.shortDescription)")
        }

        private func end(_ how: String) {
            observer.notes.add("\(number) \(how)")
            guard !hasEnded.exchange(true, ordering: .relaxed) else {
                observer.surplus.wrappingAdd(1, ordering: .relaxed)
                return
            }
            observer.open.wrappingSubtract(1, ordering: .relaxed)
        }
    }
}

extension Client {
    /// A client on `stub` whose attempts `observer` sees.
    static func observed(
        _ stub: StubTransport, by observer: NotingObserver, _ change: (inout Configuration) -> Void = { _ in }
    ) -> Client {
        stubbed(stub) { configuration in
            configuration.attemptObservers = [observer]
            change(&configuration)
        }
    }
}
