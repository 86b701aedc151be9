import Errand
import Synchronization

/// Runs the library against the server whose URL is the only argument, and prints the results. Exits with an error if a
/// result is not as expected.
@main
struct Demo {
    let client: Client

    static func main() async throws {
        guard CommandLine.arguments.count == 2 else {
            throw DemoError("usage: errand-demo BASE-URL")
        }
        let client = Client(configuration: .init(baseURL: CommandLine.arguments[1]))
        let demo = Demo(client: client)
        try await demo.closures()
        try await demo.async()
        try await demo.together()
        try await demo.batch()
        try await demo.chain()
        try await demo.cached()
        try await demo.download()
        try await demo.cancelled()
        try await demo.failing()
        await client.shutdown(.drain(within: .seconds(5)))
        print("client         shut down, nothing left")
    }

    private func closures() async throws {
        let read = try await ended(GetUser(id: 1))
        print("closures GET   \(try value(read)) in \(milliseconds(read.metrics?.total))")
        let added = try await ended(AddUser(user: NewUser(name: "Grace Hopper")))
        print("closures POST  \(try value(added)), status \(added.response?.statusCode ?? 0)")
    }

    private func async() async throws {
        print("async GET      \(try await client.run(GetUser(id: 1)))")
        print("async POST     \(try await client.run(AddUser(user: NewUser(name: "Grace Hopper"))))")
    }

    private func together() async throws {
        let clock = ContinuousClock()
        let count = 1000
        let start = clock.now
        let answers = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<count {
                group.addTask { try await client.run(Hello()) }
            }
            return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        guard answers == ["Hello world!": count] else { throw DemoError("unexpected answers: \(answers)") }
        print("1,000 at once  all answered 'Hello world!' in \(milliseconds(clock.now - start))")
    }

    /// If one request fails, the others continue. Five requests run at a time.
    private func batch() async throws {
        let ids = Array(1...4)
        let result = try await client.run(
            Batch(ids.map { GetUser(id: $0) }, policy: .collectAll, maxConcurrent: 5))
        for (id, user) in zip(ids, result.results) {
            print("batch          \(id): \((try? user.get().name) ?? "none")")
        }
        guard result.values.count == 2, result.failures.map(\.index) == [2, 3] else {
            throw DemoError("not the expected results: \(result)")
        }
        let (user, hello) = try await client.run(GetUser(id: 2), Hello())
        print("two at once    \(user.name): \(hello)")
    }

    /// Gets the orders of a user, then the location of each order that is being delivered.
    private func chain() async throws {
        let results = try await client.run(
            Chain([
                ChainStep(GetUser(id: 1), name: "user"),
                ChainStep {
                    ListOrders(user: try $0.value(named: "user", as: User.self).id)
                } then: { turn in
                    for order in turn.value where order.state == "sent" {
                        turn.insert(ChainStep(Track(item: order.item)))
                    }
                },
                ChainStep(Hello()),
            ]))
        for entry in results.entries {
            print("chain          step \(entry.index): \(try entry.result.get())")
        }
        guard results.values(of: Track.self) == ["the lamp is at the door"], results.entries.count == 4 else {
            throw DemoError("not the expected steps")
        }
    }

    private func cancelled() async throws {
        let task = Task { try await client.run(SlowFile()) }
        try await Task.sleep(for: .milliseconds(200))
        task.cancel()
        do {
            _ = try await task.value
            throw DemoError("a cancelled request was answered")
        } catch is CancellationError {
            print("cancelled      async: CancellationError")
        }
        // A stopped request does not call its closures, because the caller that stopped it already knows.
        let told = Atomic(false)
        let request = client.start(SlowFile()) { _ in told.store(true, ordering: .relaxed) }
        try await Task.sleep(for: .milliseconds(200))
        request.stop()
        try await Task.sleep(for: .milliseconds(200))
        guard !told.load(ordering: .relaxed) else { throw DemoError("a stopped request called its closure") }
        print("stopped        closures: \(request.state)")
    }

    private func failing() async throws {
        for (name, error) in [
            ("status 503", try await failure(Broken())), ("nobody there", try await failure(NobodyThere())),
        ] {
            print("failing        \(name): \(error)")
        }
        let broken = try await failure(Broken())
        guard broken == .statusNotAccepted, broken.statusCode == 503 else {
            throw DemoError("not the expected error: \(broken)")
        }
    }

    private func failure<C: Command>(_ command: C) async throws -> ErrandError {
        do {
            _ = try await client.run(command)
        } catch let error as ErrandError {
            return error
        }
        throw DemoError("\(command) did not fail")
    }

    /// Runs a command with closures and waits until one of them is called.
    func ended<C: Command>(_ command: C) async throws -> Request<C> {
        await withCheckedContinuation { continuation in
            client.start(
                command, success: { request in continuation.resume(returning: request) },
                failure: { request in continuation.resume(returning: request) })
        }
    }

    func value<C: Command>(_ request: Request<C>) throws -> C.Response {
        guard let value = request.value else {
            throw request.error ?? DemoError("neither a value nor an error")
        }
        return value
    }

    private func milliseconds(_ duration: Duration?) -> String {
        guard let duration else { return "?" }
        return duration.formatted
    }
}

struct DemoError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

extension Duration {
    /// `1.23 ms`.
    fileprivate var formatted: String {
        let microseconds = components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
        let hundredths = String(microseconds / 10 % 100)
        return "\(microseconds / 1000)." + (hundredths.count < 2 ? "0" : "") + "\(hundredths) ms"
    }
}
