import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandModel

private struct Trouble: Error {}

/// Random interceptors around random transfers, with stops, pauses, expired times and shutdowns at any point: each
/// request ends once, nothing waits for ever, and nothing is sent after the end.
@Suite(.timeLimit(.minutes(20))) struct AroundWalkTests {
    /// Random numbers that threads share.
    private final class Dice: Sendable {
        let generator: Mutex<SeededGenerator>
        init(_ seed: UInt64) { generator = Mutex(SeededGenerator(seed: seed)) }
        func below(_ bound: Int) -> Int { generator.withLock { Int.random(in: 0..<bound, using: &$0) } }
    }

    /// Does something different each time.
    private struct Whim: Interceptor {
        let random: Dice

        func intercept(
            _ request: RequestDescription, in context: InterceptionContext, next: Next
        ) async throws -> Response {
            for _ in 0..<random.below(4) { await Task.yield() }
            var result: TransferResult?
            for _ in 0..<12 {
                switch random.below(13) {
                case 0: throw Trouble()
                case 1: return Response(statusCode: 200, body: Array("own".utf8))
                case 2:
                    // Gives up waiting.
                    let call = Task { await next.result(of: request) }
                    for _ in 0..<random.below(20) { await Task.yield() }
                    call.cancel()
                    result = await call.value
                case 3:
                    // A call that nobody waits for.
                    Task { await next.result(of: request) }
                    if random.below(2) == 0 { await Task.yield() }
                case 4:
                    async let first = next.result(of: request)
                    async let second = next.result(of: request)
                    _ = await (first, second)
                case 5: await Task.yield()
                default: result = await next.result(of: request)
                }
                guard let result, random.below(3) > 0 else { continue }
                switch result {
                case .response(let response): return response
                case .failure(let error): throw error
                }
            }
            throw Trouble()
        }
    }

    private struct Ask: Command {
        var path = "x"
        var interceptors: [any Interceptor]
        var timeouts: Timeouts?
        var acceptedStatusCodes: StatusCodes { .of([200, 503]) }
        typealias Response = Errand.Response
    }

    @Test(arguments: 0..<48) func walk(seed: Int) async throws {
        let random = Dice(UInt64(seed) &* 7919 &+ 1)
        let clock = ManualClock()
        let stub = StubTransport(delivery: seed % 3 == 0 ? .immediate : .asynchronous) { _ in
            switch random.below(8) {
            case 0: .refuse(.queueFull)
            case 1: .response(status: 302, headers: [.location: "/y"])
            case 2: .failure(.connectFailed)
            case 3: .response(status: 503)
            case 4: .response(status: 200)
            default: .hold
            }
        }
        let record = RecordingAccessory()
        let client = Client.stubbed(stub) { configuration in
            configuration.clock = clock
            configuration.accessories = [record]
            configuration.interceptors = (0..<(seed % 3)).map { _ in Whim(random: random) }
        }
        let ends = Atomic(0)
        var requests: [Request<Ask>] = []
        var streams: [Task<Void, Never>] = []
        for _ in 0..<400 {
            switch random.below(14) {
            case 0..<3:
                let timeouts = random.below(2) == 0 ? nil : Timeouts(total: .seconds(1 + random.below(5)))
                let request = client.request(Ask(interceptors: [Whim(random: random)], timeouts: timeouts))
                request.start(notifiesOnStop: true) { _ in ends.add(1, ordering: .relaxed) }
                requests.append(request)
            case 3:
                let command = Ask(interceptors: [Whim(random: random)])
                streams.append(
                    Task {
                        guard let response = try? await client.stream(command) else { return }
                        do { for try await _ in response.body {} } catch {}
                    })
            case 4: if let stream = streams.last, random.below(3) == 0 { stream.cancel() }
            case 5: if !requests.isEmpty { requests[random.below(requests.count)].stop() }
            case 6: if !requests.isEmpty { requests[random.below(requests.count)].pause() }
            case 7: if !requests.isEmpty { requests[random.below(requests.count)].resume() }
            case 8: clock.advance(by: .milliseconds(random.below(800)))
            case 9..<13:
                let open = stub.open
                guard !open.isEmpty else { break }
                let id = open[random.below(open.count)]
                if random.below(3) == 0 { stub.sendHead(random.below(2) == 0 ? 200 : 503, to: id) }
                if random.below(3) == 0 { stub.sendChunk([1, 2], to: id) }
                switch random.below(4) {
                case 0: stub.complete(id, with: .failure(random.below(2) == 0 ? .connectionLost : .timeoutTotal))
                case 1: stub.complete(id, with: .response(Response(statusCode: 503)))
                default: stub.end(id)
                }
            default: await Task.yield()
            }
            if random.below(4) == 0 { await Task.yield() }
        }
        await client.shutdown(.cancel)
        for stream in streams { await stream.value }
        await client.callbacksDrained()
        #expect(ends.load(ordering: .relaxed) == requests.count)
        for request in requests { #expect(request.state.isFinished && request.isAtRest) }
        #expect(record.isBalanced)
        #expect(stub.open.isEmpty)
        #expect(client.requests.isEmpty)
    }
}
