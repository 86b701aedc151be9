import Errand
import ErrandTesting
import Synchronization

/// A body that may be read again. It counts its readers, which wait on the clock at times; one open in twelve fails.
final class ClientWalkSource: RequestBodySource {
    static let body = Array("0123456789".utf8)

    let length: Int64?
    let isReplayable = true
    /// Whether one request alone has this source, so that one reader at most is open at a time.
    let isAlone: Bool
    private let dice: ClientWalkDice
    private let clock: ManualClock
    private let readers = Mutex((open: 0, most: 0))

    init(_ dice: ClientWalkDice, _ clock: ManualClock, isAlone: Bool) {
        self.dice = dice
        self.clock = clock
        self.isAlone = isAlone
        length = dice.isOneIn(2) ? Int64(Self.body.count) : nil
    }

    /// The readers that are open now.
    var openNow: Int { readers.withLock { $0.open } }
    /// So many were open at the same time.
    var most: Int { readers.withLock { $0.most } }

    func open() throws -> sending any BodyReader {
        if dice.isOneIn(12) { throw ClientWalkTrouble() }
        readers.withLock { readers in
            readers.open += 1
            readers.most = max(readers.most, readers.open)
        }
        return Reader(of: self)
    }

    private func closed() { readers.withLock { $0.open -= 1 } }

    private func pause() async throws {
        if dice.isOneIn(4) {
            try await clock.sleep(for: .milliseconds(dice.below(400)))
        } else {
            await Task.yield()
        }
    }

    private final class Reader: BodyReader {
        private let source: ClientWalkSource
        private var position = 0

        init(of source: ClientWalkSource) {
            self.source = source
        }

        func next(maximum: Int) async throws -> [UInt8]? {
            try await source.pause()
            let end = min(position + min(3, maximum), ClientWalkSource.body.count)
            guard position < end else { return nil }
            defer { position = end }
            return Array(ClientWalkSource.body[position..<end])
        }

        func close() { source.closed() }
    }
}
