import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandDownloads
@testable import ErrandGroups
@testable import ErrandModel

private struct RefreshToken: Command {
    var path: String { "token" }
    typealias Response = String
}

/// Notes the context of its calls.
private final class NamingAccessory: EventAccessory {
    let names: Notes<String>
    let callbackQueue: CallbackQueue?

    init(_ names: Notes<String>, queue: CallbackQueue? = nil) {
        self.names = names
        callbackQueue = queue
    }

    func requestWillStart(_ request: AnyRequest) { names.add("willStart \(NotingObserver.name)") }
    func requestWillStop(_ request: AnyRequest) { names.add("willStop \(NotingObserver.name)") }
    func requestDidStop(_ request: AnyRequest) { names.add("didStop \(NotingObserver.name)") }
    func request(_ request: AnyRequest, did event: RequestEvent) throws {
        if case .queued = event { names.add("queued \(NotingObserver.name)") }
    }
}

private struct NamingInterceptor: PreparingInterceptor {
    let names: Notes<String>

    func prepare(
        _ request: RequestDescription, in context: InterceptionContext
    ) async throws -> RequestDescription {
        names.add("prepare \(NotingObserver.name)")
        _ = try await context.run(RefreshToken())
        return request
    }
}

/// What the observers of attempts take where a request is started is there wherever code of the run is called.
@Suite(.timeLimit(.minutes(20))) struct AttemptContextTests {
    private let stub = StubTransport { _ in .response(status: 200, body: "text") }

    /// A child that starts on the callback queue has the context of the group.
    @Test func childrenOfAGroup() async throws {
        let observer = NotingObserver()
        let client = Client.observed(stub, by: observer)
        try await NotingObserver.$name.withValue("ada") {
            _ = try await client.run(Batch((0..<3).map { GetText(path: "\($0)") }, maxConcurrent: 1))
        }
        #expect(observer.begins == (0..<3).map { "0 GET http://test/\($0) by ada/in" })
        #expect(observer.notes.all.first?.hasSuffix(" by ada") == true)
        #expect(observer.notes.all.filter { $0 == "run succeeded" }.count == 4)
        await client.shutdown()
    }

    @Test func groupsInGroups() async throws {
        let observer = NotingObserver()
        let client = Client.observed(stub, by: observer)
        try await NotingObserver.$name.withValue("ada") {
            _ = try await client.run(
                Batch([Batch([GetText(path: "a"), GetText(path: "b")], maxConcurrent: 1)], maxConcurrent: 1))
        }
        #expect(observer.begins == ["0 GET http://test/a by ada/in/in", "0 GET http://test/b by ada/in/in"])
        await client.shutdown()
    }

    @Test func interceptorsAndTheirCommands() async throws {
        let observer = NotingObserver()
        let names = Notes<String>()
        let client = Client.observed(stub, by: observer) { $0.interceptors = [NamingInterceptor(names: names)] }
        _ = try await NotingObserver.$name.withValue("ada") { try await client.run(GetText()) }
        #expect(names.all == ["prepare ada/in"])
        #expect(observer.begins == ["0 GET http://test/token by ada/in", "0 GET http://test/text by ada"])
        await client.shutdown()
    }

    /// The task of a refresh is detached, because others wait for it too.
    @Test func aRefresh() async throws {
        let observer = NotingObserver()
        let names = Notes<String>()
        let box = Mutex<Client?>(nil)
        let authenticator = TestAuthenticator { number, _, _ in
            names.add(NotingObserver.name)
            guard let client = box.withLock({ $0 }) else { throw RefreshTrouble(number: number) }
            _ = try await client.run(RefreshToken())
            return "t\(number)"
        }
        let stub = StubTransport { description in
            let isGood = description.url.hasSuffix("token") || description.headers[.authorization] == "t1"
            return .response(status: isGood ? 200 : 401, body: "text")
        }
        let client = Client.observed(stub, by: observer) {
            $0.interceptors = [AuthenticationInterceptor(authenticator, credential: "t0")]
        }
        box.withLock { $0 = client }
        _ = try await NotingObserver.$name.withValue("ada") { try await client.run(GetText()) }
        #expect(names.all == ["ada/in"])
        #expect(
            observer.begins == [
                "0 GET http://test/text by ada", "0 GET http://test/token by ada/in", "1 GET http://test/text by ada",
            ])
        box.withLock { $0 = nil }
        await client.shutdown()
    }

    @Test func closuresDelegatesAndAccessories() async throws {
        let observer = NotingObserver()
        let (names, own) = (Notes<String>(), Notes<String>())
        let queue = CallbackQueue.serial(label: "own")
        let client = Client.observed(stub, by: observer) {
            $0.accessories = [NamingAccessory(names), NamingAccessory(own, queue: queue)]
        }
        let request = NotingObserver.named("ada") {
            client.start(GetText()) { _ in names.add("closure \(NotingObserver.name)") }
        }
        _ = try await request.finalValue()
        #expect(names.all == ["willStart ada", "queued ada", "willStop ada", "closure ada", "didStop ada"])
        try await waitUntil("the other accessory was called") { own.all.count == 4 }
        #expect(own.all.dropFirst().allSatisfy { $0.hasSuffix(" ada") })
        await client.shutdown()
    }

    /// A validator runs in a task that is made on the callback queue.
    @Test func validators() async throws {
        let observer = NotingObserver()
        let names = Notes<String>()
        let client = Client.observed(stub, by: observer)
        var overrides = RequestOverrides()
        overrides.validator = { _ in names.add(NotingObserver.name) }
        let validated = overrides
        let request = NotingObserver.named("ada") { client.start(GetText(), overrides: validated) }
        _ = try await request.finalValue()
        #expect(names.all == ["ada/in"])
        await client.shutdown()
    }

    /// The transfers of a download are sent from its file queue.
    @Test func downloads() async throws {
        let observer = NotingObserver()
        let folder = try DownloadFolder()
        let stub = StubTransport { _ in .response(status: 200, headers: [.contentLength: "4"], body: "text") }
        let client = Client.observed(stub, by: observer)
        _ = try await NotingObserver.$name.withValue("ada") {
            try await client.run(Download("file", to: .file(folder.path + "/file")))
        }
        #expect(observer.begins == ["0 GET http://test/file by ada"])
        await client.shutdown()
    }

    /// Of several observers each has its own context.
    @Test func severalObservers() async throws {
        let (first, second) = (NotingObserver(), NotingObserver())
        let client = Client.stubbed(stub) { $0.attemptObservers = [first, second] }
        _ = try await NotingObserver.$name.withValue("ada") { try await client.run(GetText()) }
        #expect(first.notes.all == second.notes.all && first.notes.all.count == 4)
        #expect(stub.submitted.last?.headers.fields[values: NotingObserver.field].count == 1)
        await client.shutdown()
    }
}
