import Errand
import ErrandTesting
import Testing

@testable import ErrandClient
@testable import ErrandResilience

/// Retries of bodies that the client writes to the transfer.
@Suite struct UploadRetryTests {
    private struct Nothing: RequestBodySource {
        var isReplayable = true
        var length: Int64? { nil }
        func open() throws -> sending any BodyReader { throw ErrandError.invalidBody }
    }

    private func submit(
        _ fixture: ResilientFixture, isReplayable: Bool = true, isStreamed: Bool = false
    ) throws -> (receiver: CallReceiver, id: TransferID) {
        var description = try ResilientFixture.description(.put)
        if isStreamed { try description.stream() }
        description.body = .source(Nothing(isReplayable: isReplayable))
        let (receiver, id) = try fixture.submit(description)
        return (receiver, id)
    }

    private func write(_ text: String, to id: TransferID, _ fixture: ResilientFixture) {
        Array(text.utf8).withUnsafeBytes { fixture.outer.write($0, to: id) }
    }

    private func uploaded(_ fixture: ResilientFixture) throws -> String {
        String(decoding: fixture.stub.upload(of: try #require(fixture.stub.open.first)).bytes, as: UTF8.self)
    }

    /// What is written between the failure and the restart belongs to the failed attempt, whether the restart comes
    /// before the next attempt or after it.
    @Test(arguments: [true, false]) func theBodyBeginsAnew(restartsEarly: Bool) async throws {
        let fixture = ResilientFixture(Resilience(retry: RetryPolicy()))
        let (receiver, id) = try submit(fixture)
        write("first", to: id, fixture)
        #expect(try uploaded(fixture) == "first")
        try fixture.answer(503)
        #expect(receiver.events.all.count == 1)
        write("stale", to: id, fixture)
        fixture.outer.finishUpload(id)
        if restartsEarly {
            fixture.outer.restartUpload(id, after: 1)
            write("sec", to: id, fixture)
        }
        try await fixture.pass(.seconds(1), attempts: 2)
        if !restartsEarly {
            write("stale too", to: id, fixture)
            fixture.outer.failUpload(id)
            #expect(try uploaded(fixture) == "")
            fixture.outer.restartUpload(id, after: 1)
            write("sec", to: id, fixture)
        }
        try await waitUntil("the first bytes were passed on") { try uploaded(fixture) == "sec" }
        write("ond", to: id, fixture)
        fixture.outer.finishUpload(id)
        let attempt = try #require(fixture.stub.open.first)
        #expect(try uploaded(fixture) == "second" && fixture.stub.upload(of: attempt).ending == .finished)
        try fixture.answer(200)
        #expect(receiver.answers == ["200"] && fixture.isEmpty())
    }

    @Test func aBodyThatIsReadOnceIsSentOnce() throws {
        let fixture = ResilientFixture(Resilience(retry: RetryPolicy()))
        let (receiver, id) = try submit(fixture, isReplayable: false)
        write("once", to: id, fixture)
        try fixture.answer(503)
        #expect(receiver.answers == ["503"] && receiver.events.all.count == 1 && fixture.isEmpty())
    }

    /// The second attempt fails before the caller has answered the failure of the first one.
    @Test func aLateRestartIsIgnored() async throws {
        let fixture = ResilientFixture(Resilience(retry: RetryPolicy()))
        let (receiver, id) = try submit(fixture)
        try fixture.answer(503)
        try await fixture.pass(.seconds(1), attempts: 2)
        try fixture.answer(503)
        fixture.outer.restartUpload(id, after: 1)
        write("of the second", to: id, fixture)
        fixture.outer.restartUpload(id, after: 2)
        fixture.outer.restartUpload(id, after: 2)
        write("whole", to: id, fixture)
        fixture.outer.finishUpload(id)
        try await fixture.pass(.seconds(1), attempts: 3)
        try await waitUntil("the body was passed on") { try uploaded(fixture) == "whole" }
        try fixture.answer(200)
        #expect(receiver.answers == ["200"] && fixture.isEmpty())
    }

    /// The response of a streamed request is rejected by its head. The body of the next attempt comes while the rejected
    /// one is still open.
    @Test func aRejectedAttemptGetsNoBody() async throws {
        let fixture = ResilientFixture(Resilience(retry: RetryPolicy()))
        let (receiver, id) = try submit(fixture, isStreamed: true)
        let first = try #require(fixture.stub.open.first)
        write("first", to: id, fixture)
        fixture.stub.send(.head(Response(statusCode: 503)), to: first)
        #expect(receiver.events.all.count == 1)
        fixture.outer.restartUpload(id, after: 1)
        write("second", to: id, fixture)
        fixture.outer.finishUpload(id)
        #expect(fixture.stub.upload(of: first).bytes == Array("first".utf8))
        if fixture.stub.open.contains(first) { fixture.stub.complete(first, with: .failure(.cancelled)) }
        try await fixture.pass(.seconds(1), attempts: 2)
        try await waitUntil("the body was passed on") { try uploaded(fixture) == "second" }
        let attempt = try #require(fixture.stub.open.first)
        #expect(fixture.stub.upload(of: attempt).ending == .finished)
        fixture.stub.send(.head(Response(statusCode: 200)), to: attempt)
        try fixture.answer(200)
        #expect(receiver.answers == ["head 200", "200"] && fixture.isEmpty())
    }
}

/// What the caller of a retried upload has written, and where it goes.
@Suite struct UploadBacklogTests {
    private static func id(_ number: UInt64) -> TransferID { TransferID(rawValue: number) }

    private func written(_ text: String, to backlog: inout UploadBacklog) {
        Array(text.utf8).withUnsafeBytes { backlog.written($0) }
    }

    private func bytes(of part: UploadBacklog.Part) -> [UInt8] {
        switch part {
        case .bytes(let bytes): bytes
        case .shared(let bytes): bytes.copy()
        }
    }

    private func text(_ piece: UploadBacklog.Piece?) -> String? {
        switch piece {
        case .parts(let parts): parts.map { String(decoding: bytes(of: $0), as: UTF8.self) }.joined(separator: "|")
        case .finish: "finish"
        case .fail: "fail"
        case nil: nil
        }
    }

    /// The thread that submits an attempt passes the body on late: the attempt has failed, and the next body is there.
    @Test func aFailedAttemptTakesNothing() {
        var backlog = UploadBacklog()
        written("one", to: &backlog)
        let dropped = backlog.attemptFailed(1)
        #expect(dropped.count == 1)
        #expect(text(backlog.next(for: 1, Self.id(1))) == nil && backlog.target == nil)
        backlog.restarted(after: 1)
        written("two", to: &backlog)
        #expect(text(backlog.next(for: 1, Self.id(1))) == nil && backlog.target == nil)
        #expect(text(backlog.next(for: 2, Self.id(2))) == "two")
        #expect(text(backlog.next(for: 2, Self.id(2))) == nil && backlog.target == Self.id(2))
    }

    @Test func theEndOfTheBodyIsKept() {
        var backlog = UploadBacklog()
        backlog.ended(.failed)
        written("late", to: &backlog)
        backlog.ended(.finished)
        #expect(text(backlog.next(for: 1, Self.id(1))) == "fail")
    }

    /// Lent bytes stay lent, in the order of the writes.
    @Test func loansAreKept() throws {
        var backlog = UploadBacklog()
        let lent = SharedBytes(Array("lent".utf8))
        written("a", to: &backlog)
        written("b", to: &backlog)
        backlog.written(shared: lent)
        written("c", to: &backlog)
        let next = backlog.next(for: 1, Self.id(1))
        let piece = try #require(next)
        #expect(text(piece) == "ab|lent|c")
        guard case .parts(let parts) = piece, case .shared(let kept) = parts[1] else {
            Issue.record("the loan was copied")
            return
        }
        let isSame = kept.owner === lent.owner
        #expect(isSame)
        #expect(text(backlog.next(for: 1, Self.id(1))) == nil && backlog.target == Self.id(1))
    }

    /// One byte more than the credit, so that the transport beneath sees the overrun.
    @Test(arguments: [false, true]) func theBacklogIsBounded(isLent: Bool) throws {
        var backlog = UploadBacklog()
        let part = [UInt8](repeating: 1, count: 100_000)
        for _ in 0..<4 {
            if isLent {
                backlog.written(shared: SharedBytes(part))
            } else {
                part.withUnsafeBytes { backlog.written($0) }
            }
        }
        guard case .parts(let parts)? = backlog.next(for: 1, Self.id(1)) else {
            Issue.record("nothing was kept")
            return
        }
        #expect(parts.map { bytes(of: $0).count } == (isLent ? [100_000, 100_000, 62_145] : [262_145]))
    }

    enum Drop: CaseIterable, Sendable {
        case failed, closed
    }

    /// What is dropped is handed out, so that it is released after the call's lock. Nothing is kept afterwards.
    @Test(arguments: Drop.allCases) func droppedLoansAreHandedOut(by drop: Drop) {
        var backlog = UploadBacklog()
        weak var owner: AnyObject?
        func lend() {
            let bytes = SharedBytes([1, 2, 3])
            owner = bytes.owner
            backlog.written(shared: bytes)
        }
        lend()
        #expect(owner != nil)
        do {
            let dropped = drop == .failed ? backlog.attemptFailed(1) : backlog.closed()
            #expect(dropped.count == 1 && owner != nil)
            withExtendedLifetime(dropped) {}
        }
        #expect(owner == nil)
        if drop == .closed { backlog.restarted(after: 1) }
        lend()
        #expect(owner == nil)
    }
}
