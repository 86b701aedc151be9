import Errand
import ErrandTesting
import Testing

@testable import ErrandDownloads

@Suite struct DownloadStateMachineTests {
    typealias Machine = DownloadStateMachine

    private static let tag = DownloadValidators(entityTag: "\"a\"")

    static func head(
        _ statusCode: Int, _ range: Range<Int64>? = nil, total: Int64? = nil, tag: String? = "\"a\""
    ) -> DownloadHead {
        var head = DownloadHead(statusCode: statusCode)
        if statusCode == 200 {
            head.contentLength = total
        } else {
            head.contentRange = ContentRange(range, total: total)
        }
        head.validators.entityTag = tag
        return head
    }

    static func journal(_ ranges: [Range<Int64>], length: Int64? = 100, tag: String? = "\"a\"") -> DownloadJournal {
        var journal = DownloadJournal(url: "u")
        journal.validators.entityTag = tag
        journal.length = length
        journal.safe = ByteRangeSet(ranges)
        return journal
    }

    static func ask(_ transfer: Int, _ offset: Int64 = 0, to end: Int64? = nil) -> DownloadAsk {
        DownloadAsk(transfer: transfer, offset: offset, end: end, ifRange: offset > 0 || end != nil ? "\"a\"" : nil)
    }

    enum Event: CaseIterable {
        case start, startFound, whole, part, refused, busy, chunk, surplus, end, break_, fail, fire, pause, resume, stop
        case diskFull, match, mismatch, installed, stale, share, shared, unshared, contradict
    }

    static func tell(_ event: Event, _ machine: inout Machine, transfer: Int = 1) -> Machine.Action {
        switch event {
        case .start: machine.started()
        case .startFound: machine.started(found: journal([0..<40]))
        case .whole: machine.headArrived(head(200, total: 100), transfer: transfer, random: 0)
        case .part: machine.headArrived(head(206, 40..<100, total: 100), transfer: transfer, random: 0)
        case .refused: machine.headArrived(head(404), transfer: transfer, random: 0)
        case .busy: machine.headArrived(head(503), transfer: transfer, random: 0)
        case .chunk: machine.chunkArrived(count: 10, transfer: transfer)
        case .surplus: machine.chunkArrived(count: 101, transfer: transfer)
        case .end: machine.transferEnded(transfer: transfer, random: 0)
        case .break_: machine.transferFailed(.receiveFailed, isRetryable: true, transfer: transfer, random: 0)
        case .fail: machine.transferFailed(.tlsUntrusted, isRetryable: false, transfer: transfer, random: 0)
        case .fire: machine.retryTimerFired()
        case .pause: machine.pauseRequested()
        case .resume: machine.resumeRequested()
        case .stop: machine.stopRequested()
        case .diskFull: machine.gaveUp(.diskFull)
        case .match: machine.digestChecked(matches: true)
        case .mismatch: machine.digestChecked(matches: false)
        case .installed: machine.installed()
        case .stale: machine.chunkArrived(count: 1, transfer: transfer - 1)
        // It answers no action; that it may is told by `release`.
        case .share: machine.sharingBegan() ? .release : .none
        case .shared: shared(&machine, ByteRangeSet([0..<100]), nil)
        case .unshared: shared(&machine, ByteRangeSet([0..<40]), .receiveFailed)
        case .contradict: machine.sharingContradicted()
        }
    }

    private static func shared(
        _ machine: inout Machine, _ have: ByteRangeSet, _ error: ErrandError?
    ) -> Machine.Action {
        machine.sharingEnded(have: have, hasMoved: true, error, isRetryable: true, random: 0)
    }

    private static let second = Machine.Action.wait(.seconds(1))
    private static let take = Machine.Action.take(tag, length: 100)

    /// A run that has come so far, each with the actions that something comes of; all others answer `none`.
    private static func cells() -> [(name: String, state: Machine.State, answers: [Event: Machine.Action])] {
        typealias Run = Machine.Run
        var have = Run(transfer: 1)
        have.validators = tag
        have.length = 100
        have.have = ByteRangeSet([0..<40])
        have.isJoined = true
        var paused = have
        paused.isPaused = true
        var full = have
        full.have = ByteRangeSet([0..<100])
        var single = have
        single.sharing = .contradicted
        var plain = full
        plain.isJoined = false
        let mid = Machine.Receipt(start: 40, offset: 40, end: 100)
        let done = Machine.Receipt(start: 40, offset: 100, end: 100)
        let lost: [Event: Machine.Action] = [
            .break_: second, .fail: .fail(.tlsUntrusted), .stop: .stop, .diskFull: .fail(.diskFull),
        ]
        func merged(_ more: [Event: Machine.Action]) -> [Event: Machine.Action] { lost.merging(more) { $1 } }
        let heads: [Event: Machine.Action] = [
            .whole: .takeFromZero(tag, length: 100), .part: take, .refused: .fail(.statusNotAccepted), .busy: second,
            .end: second,
        ]
        let over = Machine.Action.restart(ask(2))
        var alone = have
        alone.isJoined = false
        return [
            (
                "idle", .idle,
                [
                    .start: .request(ask(1)), .startFound: .request(ask(1, 40)), .stop: .stop,
                    .diskFull: .fail(.diskFull),
                ]
            ),
            (
                "asking whole", .asking(Run(transfer: 1), ask(1)),
                merged([
                    .whole: take, .part: .fail(.malformedResponse), .refused: .fail(.statusNotAccepted), .busy: second,
                    .end: second, .pause: .hold,
                ])
            ),
            ("asking", .asking(have, ask(1, 40)), merged(heads.merging([.pause: .hold]) { $1 })),
            (
                "asking, paused", .asking(paused, ask(1, 40)),
                merged(heads.merging([.busy: .rest, .end: .rest, .break_: .rest, .resume: .release]) { $1 })
            ),
            (
                "receiving", .receiving(have, mid),
                merged([
                    .chunk: .write(at: 40), .surplus: over, .end: second, .pause: .hold, .share: .release,
                ])
            ),
            (
                "receiving, one transfer's", .receiving(alone, mid),
                merged([
                    .chunk: .write(at: 40), .surplus: .fail(.lengthMismatch), .end: second, .pause: .hold,
                    .share: .release,
                ])
            ),
            (
                "receiving, contradicted", .receiving(single, mid),
                merged([.chunk: .write(at: 40), .surplus: over, .end: second, .pause: .hold])
            ),
            (
                "receiving, paused", .receiving(paused, mid),
                merged([
                    .chunk: .write(at: 40), .surplus: over, .end: .rest, .break_: .rest, .resume: .release,
                    .share: .release,
                ])
            ),
            (
                "sharing", .sharing(have),
                [
                    .shared: .verify, .unshared: second, .contradict: .restart(ask(2)), .pause: .hold, .stop: .stop,
                    .diskFull: .fail(.diskFull),
                ]
            ),
            (
                "sharing, paused", .sharing(paused),
                [
                    .shared: .rest, .unshared: .rest, .contradict: .restart(ask(2)), .resume: .release, .stop: .stop,
                    .diskFull: .fail(.diskFull),
                ]
            ),
            (
                "received", .receiving(have, done),
                merged([.chunk: over, .surplus: over, .end: .verify, .pause: .hold])
            ),
            (
                "waiting", .waiting(have),
                [.fire: .request(ask(2, 40)), .pause: .rest, .stop: .stop, .diskFull: .fail(.diskFull)]
            ),
            ("held", .held(paused), [.resume: .request(ask(2, 40)), .stop: .stop, .diskFull: .fail(.diskFull)]),
            ("held, complete", .held(full), [.resume: .verify, .stop: .stop, .diskFull: .fail(.diskFull)]),
            (
                "verifying", .verifying(full),
                [.match: .install, .mismatch: .restart(ask(2)), .stop: .stop, .diskFull: .fail(.diskFull)]
            ),
            (
                "verifying one transfer's", .verifying(plain),
                [.match: .install, .mismatch: .discard(.digestMismatch), .stop: .stop, .diskFull: .fail(.diskFull)]
            ),
            ("installing", .installing, [.installed: .complete, .diskFull: .fail(.diskFull)]),
            ("completed", .ended(.completed), [:]), ("stopped", .ended(.stopped), [:]),
            ("failed", .ended(.failed(.diskFull)), [:]),
        ]
    }

    @Test func everyCellIsDecided() {
        var policy = DownloadPolicy()
        policy.checksDigest = true
        for cell in Self.cells() {
            for event in Event.allCases {
                var machine = Machine(policy: policy, state: cell.state)
                #expect(Self.tell(event, &machine) == cell.answers[event] ?? .none, "\(cell.name): \(event)")
                if cell.answers[event] == nil { #expect(machine.state == cell.state, "\(cell.name): \(event)") }
            }
        }
    }

    @Test func aWholeDownload() {
        var machine = Machine(policy: DownloadPolicy())
        #expect(machine.started() == .request(Self.ask(1)))
        #expect(machine.headArrived(Self.head(200, total: 30), transfer: 1, random: 0) == .take(Self.tag, length: 30))
        #expect(machine.chunkArrived(count: 10, transfer: 1) == .write(at: 0))
        #expect(machine.chunkArrived(count: 20, transfer: 1) == .write(at: 10))
        #expect(machine.received == 30)
        #expect(machine.transferEnded(transfer: 1, random: 0) == .install)
        #expect(machine.installed() == .complete)
        #expect(machine.state == .ended(.completed))
    }

    @Test func nothingIsContentToo() {
        var machine = Machine(policy: DownloadPolicy())
        _ = machine.started()
        _ = machine.headArrived(Self.head(200, total: 0), transfer: 1, random: 0)
        #expect(machine.transferEnded(transfer: 1, random: 0) == .install)
        var unknown = Machine(policy: DownloadPolicy())
        _ = unknown.started()
        _ = unknown.headArrived(Self.head(200), transfer: 1, random: 0)
        _ = unknown.chunkArrived(count: 7, transfer: 1)
        #expect(unknown.transferEnded(transfer: 1, random: 0) == .install)
    }

    /// Broken twice, then short, then changed.
    @Test func resuming() {
        var machine = Machine(policy: DownloadPolicy())
        _ = machine.started()
        _ = machine.headArrived(Self.head(200, total: 100), transfer: 1, random: 0)
        _ = machine.chunkArrived(count: 40, transfer: 1)
        #expect(Self.tell(.break_, &machine) == Self.second)
        #expect(machine.retryTimerFired() == .request(Self.ask(2, 40)))
        #expect(Self.tell(.break_, &machine, transfer: 2) == .wait(.seconds(2)))
        #expect(machine.retryTimerFired() == .request(Self.ask(3, 40)))
        #expect(machine.headArrived(Self.head(206, 40..<60, total: 100, tag: nil), transfer: 3, random: 0) == Self.take)
        #expect(machine.chunkArrived(count: 20, transfer: 3) == .write(at: 40))
        #expect(machine.transferEnded(transfer: 3, random: 0) == .request(Self.ask(4, 60)))
        #expect(
            machine.headArrived(Self.head(206, 60..<90, total: 90), transfer: 4, random: 0) == .restart(Self.ask(5)))
        #expect(machine.chunkArrived(count: 1, transfer: 4) == .none)
        let new = DownloadValidators(entityTag: "\"b\"")
        #expect(
            machine.headArrived(Self.head(200, total: 5, tag: "\"b\""), transfer: 5, random: 0) == .take(new, length: 5)
        )
        #expect(machine.chunkArrived(count: 5, transfer: 5) == .write(at: 0))
        #expect(machine.transferEnded(transfer: 5, random: 0) == .install)
    }

    @Test func whatAJournalIsWorth() {
        func first(_ journal: DownloadJournal, _ change: (inout DownloadPolicy) -> Void = { _ in }) -> Machine.Action {
            var policy = DownloadPolicy()
            change(&policy)
            var machine = Machine(policy: policy)
            return machine.started(found: journal)
        }
        let whole = Self.ask(1)
        #expect(first(Self.journal([])) == .request(whole))
        #expect(first(Self.journal([0..<40], length: nil)) == .request(Self.ask(1, 40)))
        #expect(first(Self.journal([0..<100])) == .install)
        #expect(first(Self.journal([0..<100])) { $0.checksDigest = true } == .verify)
        #expect(first(Self.journal([0..<100], tag: nil)) == .install)
        // Left by several connections: the holes are filled.
        #expect(first(Self.journal([0..<10, 50..<60])) == .request(Self.ask(1, 10, to: 50)))
        #expect(first(Self.journal([50..<60])) == .request(Self.ask(1, 0, to: 50)))
        // Nothing to join bytes by.
        #expect(first(Self.journal([0..<40], tag: nil)) == .restart(whole))
        #expect(first(Self.journal([0..<40], tag: "W/\"a\"")) == .restart(whole))
        let bare = DownloadAsk(transfer: 1, offset: 40)
        #expect(first(Self.journal([0..<40], tag: "W/\"a\"")) { $0.resumesWithoutValidator = true } == .request(bare))
        // Of another length than is expected, or longer than it can be.
        #expect(first(Self.journal([0..<40])) { $0.expectedLength = 99 } == .restart(whole))
        #expect(first(Self.journal([0..<40], length: nil)) { $0.expectedLength = 39 } == .restart(whole))
        #expect(first(Self.journal([0..<40])) { $0.expectedLength = 100 } == .request(Self.ask(1, 40)))
        #expect(first(Self.journal([0..<140])) == .restart(whole))
    }

    @Test func holesAreFilledInTurn() {
        var machine = Machine(policy: DownloadPolicy())
        #expect(machine.started(found: Self.journal([0..<10, 50..<60])) == .request(Self.ask(1, 10, to: 50)))
        _ = machine.headArrived(Self.head(206, 10..<50, total: 100), transfer: 1, random: 0)
        _ = machine.chunkArrived(count: 40, transfer: 1)
        #expect(machine.transferEnded(transfer: 1, random: 0) == .request(Self.ask(2, 60)))
        _ = machine.headArrived(Self.head(206, 60..<100, total: 100), transfer: 2, random: 0)
        _ = machine.chunkArrived(count: 40, transfer: 2)
        #expect(machine.transferEnded(transfer: 2, random: 0) == .install)
    }

    @Test func aTotalThatOnlyTheEndTells() {
        var machine = Machine(policy: DownloadPolicy())
        _ = machine.started(found: Self.journal([0..<40], length: nil))
        _ = machine.headArrived(Self.head(206, 40..<60), transfer: 1, random: 0)
        _ = machine.chunkArrived(count: 20, transfer: 1)
        #expect(machine.transferEnded(transfer: 1, random: 0) == .request(Self.ask(2, 60)))
        #expect(machine.headArrived(Self.head(416, total: 60), transfer: 2, random: 0) == .install)
    }

    /// Servers behind one name whose tags differ would contradict each other until no restart is left.
    @Test func whatWasContradictedIsNotSharedAgain() {
        var machine = Machine(policy: DownloadPolicy())
        _ = machine.started()
        _ = machine.headArrived(Self.head(200, total: 100), transfer: 1, random: 0)
        let first = machine.sharingBegan()
        #expect(machine.sharingContradicted() == .restart(Self.ask(2)))
        #expect(machine.headArrived(Self.head(200, total: 100), transfer: 2, random: 0) == Self.take)
        let second = machine.sharingBegan()
        #expect(first && !second)
        // It is still the one transfer's.
        #expect(machine.chunkArrived(count: 40, transfer: 2) == .write(at: 0))
        // Nor what is resumed of it.
        #expect(Self.tell(.break_, &machine, transfer: 2) == Self.second)
        #expect(machine.retryTimerFired() == .request(Self.ask(3, 40)))
        #expect(machine.headArrived(Self.head(206, 40..<100, total: 100), transfer: 3, random: 0) == Self.take)
        let third = machine.sharingBegan()
        #expect(!third)
        #expect(machine.chunkArrived(count: 60, transfer: 3) == .write(at: 40))
        #expect(machine.transferEnded(transfer: 3, random: 0) == .install)
    }

    /// One connection is asked for what several have left, or for all that they got wrong.
    @Test func contradictedAfterTheyEnded() {
        var machine = Machine(policy: DownloadPolicy())
        _ = machine.started()
        _ = machine.headArrived(Self.head(200, total: 100), transfer: 1, random: 0)
        let first = machine.sharingBegan()
        #expect(Self.tell(.unshared, &machine) == Self.second)
        #expect(machine.retryTimerFired() == .request(Self.ask(2, 40)))
        let whole = machine.headArrived(Self.head(200, total: 100), transfer: 2, random: 0)
        #expect(whole == .takeFromZero(Self.tag, length: 100))
        let second = machine.sharingBegan()
        #expect(first && !second)

        var policy = DownloadPolicy()
        policy.checksDigest = true
        machine = Machine(policy: policy)
        _ = machine.started()
        _ = machine.headArrived(Self.head(200, total: 100), transfer: 1, random: 0)
        let third = machine.sharingBegan()
        #expect(Self.tell(.shared, &machine) == .verify)
        #expect(machine.digestChecked(matches: false) == .restart(Self.ask(2)))
        _ = machine.headArrived(Self.head(200, total: 100), transfer: 2, random: 0)
        let fourth = machine.sharingBegan()
        #expect(third && !fourth)
        _ = machine.chunkArrived(count: 100, transfer: 2)
        #expect(machine.transferEnded(transfer: 2, random: 0) == .verify)
        #expect(machine.digestChecked(matches: false) == .discard(.digestMismatch))
    }

    /// A content that changed since the last run says nothing against several connections.
    @Test func aRestartBeforeIsNoContradiction() {
        var machine = Machine(policy: DownloadPolicy())
        _ = machine.started(found: Self.journal([0..<40], tag: "\"old\""))
        let whole = machine.headArrived(Self.head(200, total: 100), transfer: 1, random: 0)
        #expect(whole == .takeFromZero(Self.tag, length: 100))
        let isShared = machine.sharingBegan()
        #expect(isShared)
    }

    @Test func withoutAValidatorItBeginsAnew() {
        var machine = Machine(policy: DownloadPolicy())
        _ = machine.started()
        for transfer in [1, 2, 3, 4] {
            _ = machine.headArrived(Self.head(200, total: 100, tag: nil), transfer: transfer, random: 0)
            _ = machine.chunkArrived(count: 40, transfer: transfer)
            #expect(Self.tell(.break_, &machine, transfer: transfer) == Self.second)
            let again = machine.retryTimerFired()
            #expect(again == (transfer < 4 ? .restart(Self.ask(transfer + 1)) : .fail(.partialBody)))
        }
    }

    @Test func itGivesUp() {
        var policy = DownloadPolicy()
        policy.maximumFailures = 2
        var machine = Machine(policy: policy)
        _ = machine.started()
        _ = Self.tell(.break_, &machine)
        _ = machine.retryTimerFired()
        _ = Self.tell(.busy, &machine, transfer: 2)
        _ = machine.retryTimerFired()
        #expect(Self.tell(.break_, &machine, transfer: 3) == .fail(.receiveFailed))
        // A server that answers with another content each time.
        policy.maximumRestarts = 1
        machine = Machine(policy: policy)
        _ = machine.started(found: Self.journal([0..<40]))
        #expect(
            machine.headArrived(Self.head(206, 3..<100, total: 100), transfer: 1, random: 0) == .restart(Self.ask(2)))
        _ = machine.headArrived(Self.head(200, total: 100), transfer: 2, random: 0)
        _ = machine.chunkArrived(count: 10, transfer: 2)
        _ = Self.tell(.break_, &machine, transfer: 2)
        _ = machine.retryTimerFired()
        #expect(machine.headArrived(Self.head(200, total: 50), transfer: 3, random: 0) == .fail(.malformedResponse))
    }

    @Test func aLengthOfNoBytesIsForgotten() {
        var machine = Machine(policy: DownloadPolicy())
        _ = machine.started()
        _ = machine.headArrived(Self.head(200, total: 100), transfer: 1, random: 0)
        _ = Self.tell(.break_, &machine)
        #expect(machine.retryTimerFired() == .request(Self.ask(2)))
        let new = DownloadValidators(entityTag: "\"b\"")
        #expect(
            machine.headArrived(Self.head(200, total: 7, tag: "\"b\""), transfer: 2, random: 0) == .take(new, length: 7)
        )
    }

    @Test func lengthsThatWereNotPromised() {
        var policy = DownloadPolicy()
        policy.expectedLength = 50
        var machine = Machine(policy: policy)
        _ = machine.started()
        _ = machine.headArrived(Self.head(200), transfer: 1, random: 0)
        #expect(machine.chunkArrived(count: 50, transfer: 1) == .write(at: 0))
        #expect(machine.chunkArrived(count: 1, transfer: 1) == .fail(.lengthMismatch))
        machine = Machine(policy: policy)
        _ = machine.started()
        _ = machine.headArrived(Self.head(200), transfer: 1, random: 0)
        _ = machine.chunkArrived(count: 49, transfer: 1)
        #expect(machine.transferEnded(transfer: 1, random: 0) == .fail(.lengthMismatch))
    }
}
