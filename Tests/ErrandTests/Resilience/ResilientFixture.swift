import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandResilience

/// Notes the events of one call.
///
/// `@unchecked Sendable`: what it adds is itself safe to share.
final class CallReceiver: TransferReceiver, @unchecked Sendable {
    let events = Notes<String>()
    let results = Notes<TransferResult>()
    /// What was sent once more, and what was not in the end.
    let resends = Notes<String>()
    let decisions = Notes<ResilienceDecision>()

    override func receive(_ event: TransferEvent.Kind) {
        switch event {
        case .head(let response): events.add("head \(response.statusCode)")
        case .chunk(let response): events.add("chunk \(response.body.count)")
        case .progress, .uploadCredit: break
        case .started: events.add("started")
        case .connected: events.add("connected")
        case .sent: events.add("sent")
        case .retrying(let retry): events.add("retrying \(retry.attempt) \(retry.reason) \(retry.wait)")
        case .resending(let reason): resends.add(reason.label)
        case .notResent(let reason): resends.add("not \(reason.label)")
        case .decided(let decision): decisions.add(decision)
        case .ended(let result):
            results.add(result)
            switch result {
            case .response(let response): events.add("\(response.statusCode)")
            case .failure(let error): events.add(error.shortDescription)
            }
        }
    }

    /// The events without those of retries.
    var answers: [String] { events.all.filter { !$0.hasPrefix("retrying") } }

    var error: ErrandError? {
        if case .failure(let error) = results.all.first { error } else { nil }
    }
}

/// The transports of a client with resilience over a stub that delivers at once, on a manual clock. Waits have no
/// jitter.
struct ResilientFixture: Sendable {
    let clock = ManualClock()
    let stub: StubTransport
    let endpoints: EndpointTransport?
    let transport: ResilientTransport
    /// What a client submits to.
    let outer: HedgingTransport

    init(
        _ settings: Resilience, endpoints: [ServiceEndpoints] = [], parts: ResilienceParts? = nil,
        delivery: StubTransport.Delivery = .immediate,
        _ answer: @escaping @Sendable (RequestDescription) -> StubTransport.Answer = { _ in .hold }
    ) {
        let stub = StubTransport(delivery: delivery, answer)
        let stopwatch = Stopwatch(clock)
        let chooser = endpoints.isEmpty ? nil : EndpointTransport(stub, endpoints, stopwatch: stopwatch)
        self.stub = stub
        self.endpoints = chooser
        transport = ResilientTransport(chooser ?? stub, settings, parts: parts, stopwatch: stopwatch, random: { 1 })
        outer = HedgingTransport(transport)
    }

    static func description(
        _ method: HTTPRequest.Method = .get, url: String = "http://a/", total: Duration? = nil
    ) throws -> RequestDescription {
        var description = try RequestBuilder(Client.Configuration()).description(of: RawCommand(url: url))
        description.method = method
        description.settings = try description.settings.with(total: total)
        return description
    }

    func submit(
        _ description: RequestDescription? = nil, callbacks: CallbackQueue = .inline()
    ) throws -> (CallReceiver, TransferID) {
        let receiver = CallReceiver(callbacks: callbacks)
        return (receiver, try outer.submit(description ?? Self.description(), for: receiver))
    }

    /// Ends the oldest held attempt.
    func answer(_ status: Int, _ headers: HTTPFields = [:]) throws {
        let id = try #require(stub.open.first)
        stub.complete(id, with: .response(Response(statusCode: status, headers: headers)))
    }

    /// Advances the clock when the call sleeps, and returns when the stub has one more attempt.
    func pass(_ time: Duration, attempts: Int) async throws {
        await clock.sleepers(1)
        clock.advance(by: time)
        try await waitUntil("attempt \(attempts) was sent") { stub.submitted.count == attempts }
        try await waitUntil("its id is known") { stub.open.count > 0 }
    }

    /// Nothing is left.
    func isEmpty(_ origin: String = "http://a:80") -> Bool {
        let pending = (endpoints?.groups.values).map { $0.flatMap(\.set.statuses).map(\.pending).reduce(0, +) } ?? 0
        return outer.count == 0 && transport.count == 0 && stub.open.isEmpty && pending == 0
            && (transport.parts.concurrency?.inFlight(of: origin) ?? 0) == 0
            && (transport.parts.concurrency?.waiting(of: origin) ?? 0) == 0
    }
}
