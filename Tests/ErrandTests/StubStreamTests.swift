import Errand
import ErrandTesting
import Testing

@testable import ErrandClient
@testable import ErrandEngine
@testable import ErrandModel

@Suite struct StubStreamTests {
    /// `@unchecked Sendable`: what it adds is itself safe to share.
    private final class Receiver: TransferReceiver, @unchecked Sendable {
        let events = Notes<String>()

        override func receive(_ event: TransferEvent.Kind) {
            switch event {
            case .head(let response): events.add("head \(response.statusCode)")
            case .chunk(let response): events.add("chunk \(response.body.count)")
            case .progress(let progress): events.add("progress \(progress.bytesReceived)")
            case .uploadCredit(let bytes): events.add("credit \(bytes)")
            case .started: events.add("started")
            case .connected: events.add("connected")
            case .sent: events.add("sent")
            case .retrying(let retry): events.add("retrying \(retry.reason)")
            case .resending(let reason): events.add("resending \(reason.label)")
            case .notResent(let reason): events.add("notResent \(reason.label)")
            case .decided(let decision): events.add("decided \(decision.label)")
            case .ended(.response): events.add("response")
            case .ended(.failure(let error)): events.add("failure \(error.code)")
            }
        }
    }

    private func submit(_ stub: StubTransport) throws -> (Receiver, TransferID) {
        let receiver = Receiver(callbacks: .inline())
        var description = try RequestBuilder(Client.Configuration()).description(of: RawCommand(url: "http://a/"))
        description.body = .stream(length: nil)
        description.delivery = .streamed
        return (receiver, try stub.submit(description, for: receiver))
    }

    @Test func eventsAreSentInOrder() throws {
        let stub = StubTransport(delivery: .immediate) { _ in .hold }
        let (receiver, id) = try submit(stub)
        let events: [TransferEvent.Kind] = [
            .started, .sent, .head(Response(statusCode: 200)), .chunk(Response(statusCode: 200, body: [1, 2])),
            .progress(TransferProgress(bytesReceived: 2)), .uploadCredit(9),
        ]
        for event in events { #expect(stub.send(event, to: id)) }
        #expect(!stub.send(.ended(.failure(.cancelled)), to: id))
        stub.grant(id, bytes: 2)
        stub.grant(id, bytes: 3)
        #expect(stub.granted(to: id) == 5)
        stub.complete(id, with: .response(Response(statusCode: 200)))
        #expect(!stub.send(.started, to: id))
        #expect(
            receiver.events.all == [
                "started", "sent", "head 200", "chunk 2", "progress 2", "credit 9", "response",
            ])
    }

    @Test func writesAreRecorded() throws {
        let stub = StubTransport(delivery: .immediate) { _ in .hold }
        let (receiver, id) = try submit(stub)
        [UInt8]([1, 2]).withUnsafeBytes { stub.write($0, to: id) }
        [UInt8]([3]).withUnsafeBytes { stub.write($0, to: id) }
        #expect(stub.upload(of: id) == .init(bytes: [1, 2, 3], ending: .open))
        stub.finishUpload(id)
        #expect(stub.upload(of: id).ending == .finished)
        #expect(receiver.events.all.isEmpty)
        let (failing, other) = try submit(stub)
        stub.failUpload(other)
        #expect(stub.upload(of: other).ending == .failed)
        #expect(failing.events.all == ["failure uploadFailed"])
    }
}
