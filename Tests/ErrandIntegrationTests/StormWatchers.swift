import Errand
import Synchronization

/// Told of one run: of its start, its end and that it is over, once each and in that order, or of none.
final class StormAccessory: EventAccessory {
    private enum Stage: Int {
        case fresh, started, stopping, stopped
    }

    private let stage = Mutex(Stage.fresh)
    private let ledger: StormLedger
    private let stops: StormStops
    /// What it does to the request that it watches.
    let mischief: Mischief

    enum Mischief: CaseIterable {
        case none, stopsAtStart, stopsAtEvent, stopsAtEnd, pausesAtEvent, throwsAtEvent
    }

    private struct Thrown: Error {}

    init(_ subject: StormSubject, _ mischief: Mischief) {
        ledger = subject.ledger
        stops = subject.stops
        self.mischief = mischief
    }

    private func turn(_ from: Stage, _ to: Stage) {
        let found = stage.withLock { stage in
            defer { stage = to }
            return stage
        }
        if found != from { ledger.problem("an accessory was told that it is \(to) when it was \(found)") }
    }

    private func stop(_ request: AnyRequest) {
        stops.count { request.stop() }
    }

    func requestWillStart(_ request: AnyRequest) {
        turn(.fresh, .started)
        ledger.openAccessories.add(1, ordering: .relaxed)
        if mischief == .stopsAtStart { stop(request) }
    }

    func request(_ request: AnyRequest, did event: RequestEvent) throws {
        let found = stage.withLock { $0 }
        if found != .started { ledger.problem("an accessory was told of an event when it was \(found)") }
        switch mischief {
        case .stopsAtEvent:
            stop(request)
        case .pausesAtEvent:
            request.pause()
            request.resume()
        case .throwsAtEvent:
            throw Thrown()
        case .none, .stopsAtStart, .stopsAtEnd:
            break
        }
    }

    func requestWillStop(_ request: AnyRequest) {
        turn(.started, .stopping)
        if request.state.isFinished { ledger.problem("an accessory was told of the end in \(request.state)") }
        if mischief == .stopsAtEnd { stop(request) }
    }

    func requestDidStop(_ request: AnyRequest) {
        turn(.stopping, .stopped)
        if !request.state.isFinished { ledger.problem("an accessory was told of the stop in \(request.state)") }
        ledger.openAccessories.subtract(1, ordering: .relaxed)
    }
}

/// Watches all requests of a client.
final class StormCensus: Accessory {
    private let stages = Mutex<[UInt64: Int]>([:])
    private let ledger: StormLedger

    init(_ ledger: StormLedger) {
        self.ledger = ledger
    }

    private func turn(_ request: AnyRequest, _ from: Int) {
        let found = stages.withLock { stages in
            let found = stages[request.id, default: 0]
            stages[request.id] = from == 2 ? nil : from + 1
            return found
        }
        if found != from { ledger.problem("the client's accessory was told \(from) when it was at \(found)") }
    }

    func requestWillStart(_ request: AnyRequest) { turn(request, 0) }
    func requestWillStop(_ request: AnyRequest) { turn(request, 1) }
    func requestDidStop(_ request: AnyRequest) { turn(request, 2) }

    /// Requests that were told of and are not over.
    var open: Int { stages.withLock { $0.count } }
}

/// Counts how often it is told.
final class StormDelegate: RequestDelegate {
    struct WeakSubject {
        weak var subject: StormSubject?
        init(_ subject: StormSubject?) { self.subject = subject }
    }

    private let target: StormTarget
    private let ledger: StormLedger
    private let count = Atomic<Int>(0)
    let subject = Mutex(WeakSubject(nil))

    init(_ target: StormTarget, _ ledger: StormLedger) {
        self.target = target
        self.ledger = ledger
    }

    var calls: Int { count.load(ordering: .relaxed) }

    func requestFinished(_ request: AnyRequest) { told(request, .succeeded) }

    func requestFailed(_ request: AnyRequest) { told(request, .failed) }

    private func told(_ request: AnyRequest, _ state: RequestState) {
        count.add(1, ordering: .relaxed)
        let isRight = request.state == state || (ledger.reportsStops && request.state == .cancelled)
        if !isRight { ledger.problem("the delegate of \(target) was told \(state) in \(request.state)") }
        if subject.withLock({ $0.subject?.isSilenced }) == true {
            ledger.problem("the delegate of \(target) was told after a stop on the queue")
        }
    }
}
