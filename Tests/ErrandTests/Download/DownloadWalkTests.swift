import Errand
import ErrandTesting
import Testing

@testable import ErrandDownloads

/// A download against a server and a disk that are values: whatever breaks, changes or lies in between, a file that is put
/// in place is one version of the content, all of it.
@Suite struct DownloadWalkTests {
    private struct World {
        var random: SeededGenerator
        var version = 1
        let hasTag: Bool
        let hasRanges: Bool
        let saysLength: Bool
        var lengths: [Int] = [0]
        var disk: [UInt8] = []
        var journal = DownloadJournal(url: "u")
        /// What the present transfer still has to say.
        var ask: DownloadAsk?
        var body: [UInt8]?
        var isTimerSet = false
        var isHeld = false
        var ending: DownloadStateMachine.Action?

        init(seed: UInt64) {
            random = SeededGenerator(seed: seed)
            hasTag = random.next() % 4 > 0
            hasRanges = random.next() % 4 > 0
            saysLength = random.next() % 4 > 0
            lengths.append(Int(random.next() % 200))
        }

        mutating func oneIn(_ count: UInt64) -> Bool { random.next() % count == 0 }

        func content(_ version: Int) -> [UInt8] {
            (0..<lengths[version]).map { UInt8(truncatingIfNeeded: version &* 31 &+ $0 &* 7) }
        }

        /// The server changes its mind.
        mutating func change() {
            version += 1
            lengths.append(Int(random.next() % 200))
        }

        mutating func reply(to ask: DownloadAsk) -> DownloadHead? {
            if oneIn(8) { return DownloadHead(statusCode: 503) }
            let (bytes, tag) = (content(version), hasTag ? "\"\(version)\"" : nil)
            var head = DownloadHead(statusCode: 200)
            head.validators.entityTag = tag
            guard ask.isRanged, hasRanges, ask.ifRange == nil || ask.ifRange == tag else {
                if saysLength { head.contentLength = Int64(bytes.count) }
                body = bytes
                return head
            }
            guard ask.offset < bytes.count else {
                head.statusCode = 416
                head.contentRange = ContentRange(nil, total: Int64(bytes.count))
                body = []
                return head
            }
            let start = oneIn(10) ? Int64(random.next() % UInt64(bytes.count)) : ask.offset
            var end = min(ask.end ?? .max, Int64(bytes.count))
            if end <= start { end = start + 1 }
            if oneIn(6) { end = start + 1 + Int64(random.next() % UInt64(end - start)) }
            head.statusCode = 206
            head.contentRange = ContentRange(start..<end, total: saysLength ? Int64(bytes.count) : nil)
            head.contentLength = end - start
            body = Array(bytes[Int(start)..<Int(end)])
            return head
        }
    }

    private static func perform(_ action: DownloadStateMachine.Action, _ chunk: [UInt8], _ world: inout World) {
        switch action {
        case .none, .complete: break
        case .request(let ask):
            #expect(ask.transfer > world.ask?.transfer ?? 0)
            (world.ask, world.body, world.isTimerSet, world.isHeld) = (ask, nil, false, false)
        case .restart(let ask):
            world.disk = []
            world.journal = DownloadJournal(url: "u")
            (world.ask, world.body, world.isTimerSet, world.isHeld) = (ask, nil, false, false)
        case .take(let validators, let length), .takeFromZero(let validators, let length):
            if case .takeFromZero = action { world.disk = [] }
            world.journal.validators = validators
            world.journal.length = length
        case .write(let offset):
            // This server sends from the beginning: no holes.
            #expect(Int(offset) == world.disk.count)
            world.disk += chunk
        case .hold: world.isHeld = true
        case .release: world.isHeld = false
        case .wait: (world.body, world.isTimerSet) = (nil, true)
        case .rest: (world.body, world.isHeld, world.isTimerSet) = (nil, true, false)
        case .verify, .install, .stop, .fail, .discard: world.ending = action
        }
    }

    private static func step(_ machine: inout DownloadStateMachine, _ world: inout World) {
        if world.oneIn(60) { world.change() }
        if world.oneIn(20) { return perform(machine.pauseRequested(), [], &world) }
        if world.isHeld { return perform(machine.resumeRequested(), [], &world) }
        if world.isTimerSet { return perform(machine.retryTimerFired(), [], &world) }
        guard let ask = world.ask else {
            Issue.record("nothing is under way")
            world.ending = .stop
            return
        }
        // Of a transfer that is over.
        #expect(machine.chunkArrived(count: 1, transfer: ask.transfer - 1) == .none)
        if world.oneIn(12) {
            let failed = machine.transferFailed(
                .receiveFailed, isRetryable: true, transfer: ask.transfer, random: 0.5)
            return perform(failed, [], &world)
        }
        guard let body = world.body else {
            guard let head = world.reply(to: ask) else { return }
            return perform(machine.headArrived(head, transfer: ask.transfer, random: 0.5), [], &world)
        }
        if body.isEmpty { return perform(machine.transferEnded(transfer: ask.transfer, random: 0.5), [], &world) }
        let count = 1 + Int(world.random.next() % UInt64(min(body.count, 40)))
        world.body = Array(body[count...])
        perform(machine.chunkArrived(count: count, transfer: ask.transfer), Array(body[..<count]), &world)
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>) func oneVersionOrNone(seed: UInt64) {
        var installed = 0
        for walk in 0..<300 {
            var world = World(seed: seed << 32 + UInt64(walk))
            var machine = DownloadStateMachine(policy: DownloadPolicy())
            Self.perform(machine.started(), [], &world)
            var steps = 0
            while world.ending == nil, steps < 20_000 {
                steps += 1
                Self.step(&machine, &world)
                if world.ending == nil, world.oneIn(40) {
                    // Killed: a new run finds what was safe.
                    world.disk = Array(world.disk.prefix(Int(world.random.next() % 200)))
                    world.journal.safe = ByteRangeSet([0..<Int64(world.disk.count)])
                    (world.ask, world.body, world.isTimerSet, world.isHeld) = (nil, nil, false, false)
                    machine = DownloadStateMachine(policy: DownloadPolicy())
                    let first = machine.started(found: world.disk.isEmpty ? nil : world.journal)
                    if world.disk.isEmpty { world.journal = DownloadJournal(url: "u") }
                    Self.perform(first, [], &world)
                }
            }
            #expect(steps < 20_000, "walk \(walk)")
            guard world.ending == .install else { continue }
            installed += 1
            #expect((1...world.version).contains { world.content($0) == world.disk }, "walk \(walk): \(world.disk)")
            #expect(machine.installed() == .complete)
            #expect(machine.stopRequested() == .none && machine.received == 0)
        }
        #expect(installed > 150)
    }
}
