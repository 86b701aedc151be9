import Errand
import Testing

@testable import ErrandEngine
@testable import ErrandLogging
@testable import ErrandModel
@testable import ErrandTesting

/// Who watches a receiver sees the events that pass these transports.
@Suite(.timeLimit(.minutes(20))) struct WatchedReceiverTests {
    private final class Watcher: TransferWatcher {
        let ends = Notes<Bool>()

        func transferReported(_ event: TransferEvent.Kind, to receiver: TransferReceiver) {
            if case .ended = event {
                _ = receiver.watchEnds()
                ends.add(true)
            }
            receiver.receive(event)
        }
    }

    /// `@unchecked Sendable`: what it adds is itself safe to share.
    private final class Receiver: TransferReceiver, @unchecked Sendable {
        let ends = Notes<Bool>()

        override func receive(_ event: TransferEvent.Kind) {
            if case .ended = event { ends.add(true) }
        }
    }

    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
    }

    @Test func watchersSeeTheEnd() async throws {
        let stub = StubTransport { _ in .response(status: 200) }
        let options = HAROptions(bodyLimit: 0, readsFiles: false, redaction: .standard)
        let transports: [any Transport] = [
            HARTransport(stub, options, stopwatch: Stopwatch(ContinuousClock())) { _ in },
            ChaosTransport(over: stub, ChaosPlan(latency: .fixed(.milliseconds(1))), seed: 1),
            CassetteTransport(try Cassette(folder.path + "/c.har", mode: .all), over: stub),
        ]
        let description = try Client(transport: stub).describe(RawCommand(url: "http://a/"))
        for transport in transports {
            let (watcher, receiver) = (Watcher(), Receiver(callbacks: .inline()))
            receiver.watchBegins(by: watcher, number: 1, epoch: 0, flag: false, start: .zero)
            _ = try transport.submit(description, for: receiver)
            try await waitUntil("the transfer has ended") { !receiver.ends.all.isEmpty }
            #expect(watcher.ends.all == [true], "\(type(of: transport))")
        }
    }
}
