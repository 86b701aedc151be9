import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandEngine
@testable import ErrandModel

/// Keeps what a transport tells, and answers some of it.
///
/// `@unchecked Sendable`: what it adds to the base class is under a mutex or constant.
final class RecordingReceiver: TransferReceiver, @unchecked Sendable {
    private let events = Mutex<[TransferEvent.Kind]>([])
    private let react: @Sendable (TransferEvent.Kind) -> Void
    private let ended: AsyncStream<TransferResult>.Continuation
    private let results: AsyncStream<TransferResult>

    init(callbacks: CallbackQueue = .serial(), react: @escaping @Sendable (TransferEvent.Kind) -> Void = { _ in }) {
        self.react = react
        (results, ended) = AsyncStream.makeStream()
        super.init(callbacks: callbacks)
    }

    override func receive(_ event: TransferEvent.Kind) {
        events.withLock { $0.append(event) }
        react(event)
        if case .ended(let result) = event {
            ended.yield(result)
            ended.finish()
        }
    }

    /// Waits for the end.
    func result() async throws -> TransferResult {
        for await result in results { return result }
        throw ErrandError.internalFailure.with(message: "no end was told")
    }

    var all: [TransferEvent.Kind] { events.withLock { $0 } }

    /// What may have been written by now, in all: 256 KiB to begin with.
    var uploadCredit: Int {
        all.reduce(262_144) { sum, event in
            if case .uploadCredit(let bytes) = event { sum + Int(bytes) } else { sum }
        }
    }

    /// The kinds in order, the same twice in a row once.
    var names: [String] {
        all.map { event in
            switch event {
            case .ended: "ended"
            case .head: "head"
            case .chunk: "chunk"
            case .uploadCredit: "credit"
            case .started: "started"
            case .connected: "connected"
            case .sent: "sent"
            case .progress: "progress"
            case .retrying: "retrying"
            case .resending: "resending"
            case .notResent: "notResent"
            case .decided: "decided"
            }
        }.reduce(into: []) { names, name in
            if names.last != name { names.append(name) }
        }
    }
}

/// Streams and reports by the transport itself, as the layers above it use it.
@Suite struct TransportStreamTests {
    private func describe(
        _ server: ScriptedServer, _ path: String, _ change: (inout RequestDescription) -> Void
    ) throws -> RequestDescription {
        let command = RawCommand(method: .put, url: server.url(path))
        var description = try RequestBuilder(Client.Configuration.patient()).description(of: command)
        change(&description)
        return description
    }

    private func with(
        _ body: (ReactorTransport, ScriptedServer) async throws -> Void
    ) async throws {
        let server = try ScriptedServer()
        let transport = ReactorTransport(Client.Configuration())
        try await body(transport, server)
        await withCheckedContinuation { continuation in transport.shutdown { continuation.resume() } }
    }

    /// Nobody takes a loan after the engine was destroyed, so the transport gives it back itself.
    @Test func aLoanAfterTheShutdownIsGivenBack() async {
        let transport = ReactorTransport(Client.Configuration())
        await withCheckedContinuation { continuation in transport.shutdown { continuation.resume() } }
        weak var owner: AnyObject?
        do {
            let bytes = SharedBytes([UInt8](repeating: 7, count: 10_000))
            owner = bytes.owner
            transport.write(shared: bytes, to: TransferID(rawValue: 1))
            withExtendedLifetime(bytes) { #expect(owner != nil && bytes.count == 10_000) }
        }
        #expect(owner == nil)
    }

    @Test(arguments: [nil, 600_000] as [Int64?])
    func aStreamIsEchoed(length: Int64?) async throws {
        try await with { transport, server in
            try server.on("/echo", [.echo])
            let id = Mutex<TransferID?>(nil)
            let receiver = RecordingReceiver { event in
                guard case .chunk(let response) = event, let id = id.withLock({ $0 }) else { return }
                transport.grant(id, bytes: response.body.count)
            }
            let description = try describe(server, "/echo") {
                $0.body = .stream(length: length)
                $0.delivery = .streamed
            }
            let transfer = try transport.submit(description, for: receiver)
            id.withLock { $0 = transfer }
            let part = [UInt8](repeating: 0x61, count: 100_000)
            for written in stride(from: 0, to: 600_000, by: part.count) {
                try await waitUntil("the upload has credit for the part") {
                    receiver.uploadCredit >= written + part.count
                }
                part.withUnsafeBytes { transport.write($0, to: transfer) }
            }
            transport.finishUpload(transfer)
            guard case .response(let response) = try await receiver.result() else {
                return #expect(Bool(false), "\(receiver.all)")
            }
            #expect(response.body.isEmpty)
            let echoed = receiver.all.reduce(into: [UInt8]()) { bytes, event in
                if case .chunk(let part) = event { bytes += part.body.bytes }
            }
            #expect(echoed.suffix(600_000).allSatisfy { $0 == 0x61 })
            #expect(echoed.count > 600_000)
            #expect(server.requests.first?.bodyLength == 600_000)
        }
    }

    @Test func aFailedSourceEndsTheTransfer() async throws {
        try await with { transport, server in
            try server.on("/echo", [.echo])
            let receiver = RecordingReceiver()
            let description = try describe(server, "/echo") { $0.body = .stream(length: 10) }
            let transfer = try transport.submit(description, for: receiver)
            transport.failUpload(transfer)
            guard case .failure(let error) = try await receiver.result() else { return #expect(Bool(false)) }
            #expect(error == .uploadFailed)
        }
    }

    @Test func reportsAreTold() async throws {
        try await with { transport, server in
            try server.on("/echo", [.echo])
            let receiver = RecordingReceiver()
            let description = try describe(server, "/echo") {
                $0.body = .bytes([1, 2, 3])
                $0.reports = [.events, .progress]
            }
            _ = try transport.submit(description, for: receiver)
            guard case .response(let response) = try await receiver.result() else { return #expect(Bool(false)) }
            // More progress where the server takes its time.
            #expect(receiver.names.filter { $0 != "progress" } == ["started", "sent", "head", "ended"])
            for case .head(let head) in receiver.all {
                #expect(head.statusCode == 200)
                #expect(head.headers[.contentLength] == response.headers[.contentLength])
            }
            guard case .progress(let progress)? = receiver.all.dropLast().last else { return #expect(Bool(false)) }
            let length = UInt64(response.body.count)
            #expect(
                progress
                    == TransferProgress(
                        bytesSent: 3, bytesReceived: length, bytesToSend: 3, bytesToReceive: length))
        }
    }

    @Test func nothingIsToldUnasked() async throws {
        try await with { transport, server in
            try server.on("/echo", [.echo])
            let receiver = RecordingReceiver()
            _ = try transport.submit(try describe(server, "/echo") { _ in }, for: receiver)
            _ = try await receiver.result()
            #expect(receiver.names == ["ended"])
        }
    }
}
