import Errand
import ErrandTesting
import Testing

@testable import ErrandClient
@testable import ErrandResilience

/// Transports of users, whose ids may be any numbers.
@Suite struct RenumberingTransportTests {
    /// A stub whose ids have the highest bit set.
    private final class Wide: Transport {
        private static let bit: UInt64 = 1 << 63
        private let stub: StubTransport

        init(_ stub: StubTransport) {
            self.stub = stub
        }

        private func beneath(_ id: TransferID) -> TransferID { TransferID(rawValue: id.rawValue & ~Self.bit) }

        func submit(
            _ description: RequestDescription, for receiver: TransferReceiver
        ) throws(ErrandError) -> TransferID {
            let id = try stub.submit(description, for: receiver)
            return TransferID(rawValue: id.rawValue | Self.bit)
        }

        func cancel(_ id: TransferID) { stub.cancel(beneath(id)) }
        func pause(_ id: TransferID) { stub.pause(beneath(id)) }
        func resume(_ id: TransferID) { stub.resume(beneath(id)) }
        func grant(_ id: TransferID, bytes: Int) { stub.grant(beneath(id), bytes: bytes) }
        func write(_ bytes: UnsafeRawBufferPointer, to id: TransferID) { stub.write(bytes, to: beneath(id)) }
        func write(shared bytes: SharedBytes, to id: TransferID) { stub.write(shared: bytes, to: beneath(id)) }
        func finishUpload(_ id: TransferID) { stub.finishUpload(beneath(id)) }
        func failUpload(_ id: TransferID) { stub.failUpload(beneath(id)) }
        func restartUpload(_ id: TransferID, after attempt: Int) { stub.restartUpload(beneath(id), after: attempt) }
        func filesMayHaveChanged() { stub.filesMayHaveChanged() }
        func shutdown(_ stopped: @escaping @Sendable () -> Void) { stub.shutdown(stopped) }
    }

    private static func submit(_ transport: any Transport, _ url: String) throws -> (CallReceiver, TransferID) {
        let receiver = CallReceiver(callbacks: .inline())
        return (receiver, try transport.submit(ResilientFixture.description(url: url), for: receiver))
    }

    /// Orders reach the transfers of a user's transport beneath the choice of alternative services.
    @Test(arguments: ["http://a/", "https://a/", "https://b/"])
    func ordersReachTheirTransfer(url: String) throws {
        let clock = ManualClock()
        let cache = AltServiceCache(clock: clock)
        cache.learn(["h2=\"alt.test:444\""], from: "https://b:443", overFaultlessTLS: true)
        let stub = StubTransport(delivery: .immediate) { _ in .hold }
        let transport = AltServiceTransport(
            Wide(stub), cache, stopwatch: Stopwatch(clock), connection: ConnectionOptions(httpVersion: .http2OverTLS))
        let (other, _) = try Self.submit(transport, "https://other/")
        let (receiver, id) = try Self.submit(transport, url)
        let held = try #require(stub.open.last)
        transport.pause(id)
        #expect(stub.isPaused(held))
        transport.resume(id)
        #expect(!stub.isPaused(held))
        transport.grant(id, bytes: 3)
        #expect(stub.granted(to: held) == 3)
        transport.cancel(id)
        #expect(receiver.events.all == ["cancelled"] && other.events.all.isEmpty)
        // An order for a transfer that has ended goes nowhere.
        transport.cancel(id)
        #expect(stub.cancelled == [held] && stub.open.count == 1)
        stub.completeAll { _ in .response(Response(statusCode: 200)) }
        #expect(other.events.all == ["200"])
    }

    /// The body of an upload, too.
    @Test func uploadsReachTheirTransfer() throws {
        let stub = StubTransport(delivery: .immediate) { _ in .hold }
        let transport = RenumberingTransport(Wide(stub))
        let (_, id) = try Self.submit(transport, "http://a/")
        let held = try #require(stub.open.first)
        for byte in [UInt8(1), 2] { withUnsafeBytes(of: byte) { transport.write($0, to: id) } }
        transport.finishUpload(id)
        #expect(stub.upload(of: held) == .init(bytes: [1, 2], ending: .finished))
        transport.restartUpload(id, after: 1)
        #expect(stub.upload(of: held).bytes.isEmpty)
        transport.failUpload(id)
        #expect(stub.upload(of: held).ending == .failed && stub.open.isEmpty && transport.count == 0)
    }

    /// A transfer that ends before `submit` returns, and one that is refused, leave nothing behind.
    @Test(arguments: [StubTransport.Answer.response(status: 200), .failure(.connectFailed), .refuse(.queueFull)])
    func nothingIsLeft(answer: StubTransport.Answer) {
        let transport = RenumberingTransport(Wide(StubTransport(delivery: .immediate) { _ in answer }))
        let sent = try? Self.submit(transport, "http://a/")
        #expect(transport.count == 0 && transport.hasShortIDs)
        if let sent { #expect(sent.0.results.all.count == 1 && sent.1.rawValue == 1) }
    }
}
