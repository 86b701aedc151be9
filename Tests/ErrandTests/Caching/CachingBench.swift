import Errand
import ErrandTesting
public import HTTPTypes
import Logging
import Synchronization

@testable import ErrandCaching
@testable import ErrandClient
@testable import ErrandModel

/// The wall clock of a cache, which stands until it is told to go on.
final class CacheClock: Sendable {
    /// Sun, 06 Nov 1994 08:49:37 GMT.
    private let milliseconds = Mutex<Int64>(784_111_777_000)

    var now: Int64 { milliseconds.withLock { $0 } }

    func advance(_ seconds: Double) {
        milliseconds.withLock { $0 += Int64(seconds * 1000) }
    }

    /// As it stands in a field.
    func date(_ seconds: Int64 = 0) -> String {
        HTTPDate.text(CacheTime(milliseconds: now + seconds * 1000))
    }
}

/// What is asked for in these tests.
struct GetCached: Command {
    var path = "x"
    var cache: CachePolicy?
    var method = HTTPRequest.Method.get
    var headers = HTTPFields()
    var query: [QueryItem] = []
    var body = RequestBody.empty
    var options: CommandOptions = []
    var timeouts: Timeouts?
    var authorization: Authorization?
    var acceptedStatusCodes = StatusCodes.inherited
    typealias Response = String
}

/// A client whose server and whose clock do what they are told.
struct CachingBench {
    typealias Answer = @Sendable (RequestDescription, Int) -> StubTransport.Answer

    let clock = CacheClock()
    let stub: StubTransport
    let client: Client
    private let count: Mutex64

    final class Mutex64: Sendable {
        let value = Mutex(0)
    }

    /// `answer` is given the number of the transfer, from 1. Default: 200 with that number as the body.
    init(
        store: any CacheStore = MemoryCacheStore(), isShared: Bool = false, applicationVersion: String? = nil,
        logger: Logger = MemoryLog().logger,
        answer: @escaping Answer = { .response(status: 200, body: "\($1)") },
        change: (inout Client.Configuration) -> Void = { _ in }
    ) {
        let count = Mutex64()
        self.count = count
        stub = StubTransport { description in
            answer(
                description,
                count.value.withLock { value in
                    value += 1
                    return value
                })
        }
        let clock = clock
        client = .stubbed(stub) { configuration in
            configuration.cache = ResponseCache(
                store, isShared: isShared, applicationVersion: applicationVersion, logger: logger,
                now: { clock.now })
            change(&configuration)
        }
    }

    /// So many transfers were sent.
    var sent: Int { count.value.withLock { $0 } }

    /// Runs `body`, then ends the client; nothing must be left in its cache's way.
    func run(_ body: (CachingBench) async throws -> Void) async throws {
        do {
            try await body(self)
        } catch {
            await client.shutdown(.cancel)
            throw error
        }
        await client.shutdown(.cancel)
        await client.cache.flush()
        try await waitUntil("no lookup of the client runs") { client.carrier.count == 0 }
        guard client.requests.isEmpty else { throw ErrandError.internalFailure }
    }

    /// By closures, as its watchers see it.
    func finished<C: Command>(_ request: Request<C>) async -> Request<C> {
        await withCheckedContinuation { continuation in
            request.start(notifiesOnStop: true) { continuation.resume(returning: $0) }
        }
    }

    func finished<C: Command>(_ command: C, overrides: RequestOverrides? = nil) async -> Request<C> {
        await finished(client.request(command, overrides: overrides))
    }
}

extension HTTPField.Name: @retroactive ExpressibleByStringLiteral {
    /// So that tests may write names as they stand in a message.
    public init(stringLiteral name: String) {
        self = HTTPField.Name(name) ?? .age
    }
}

/// What a logger was told, as text.
final class MemoryLog: Sendable {
    private let noted = Notes<String>()

    var lines: [String] { noted.all }
    var logger: Logger { Logger(label: "test") { [noted] _ in Handler(lines: noted) } }

    private struct Handler: LogHandler {
        let lines: Notes<String>
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.add("\(event.level) \(event.message) \(event.metadata ?? [:])")
        }
    }
}
