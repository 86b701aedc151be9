import Errand
import ErrandTesting
import Foundation
import Synchronization

/// Four threads that make requests of one client and stop, pause, restart, cancel and drop what they find.
final class Storm: Sendable {
    /// What a storm is made from; the same plan makes the same picks, in another order of events.
    struct Plan: Codable, Sendable {
        /// What is the same for all requests of the client.
        enum Watch: String, Codable, CaseIterable {
            /// Nobody watches, stops are silent.
            case nobody
            /// An accessory and an interceptor see every request, closures hear of stops.
            case everybody
            /// As `nobody`, and callbacks run on the engine's threads.
            case inline
        }

        var seed: UInt64
        var requests: Int
        var watch: Watch
        var servers: StormServers.Addresses
    }

    private static let threads = 4
    /// At most about so many runs at a time.
    private static let openAtMost = 160

    /// A request that threads know of.
    private enum Slot {
        case empty
        case request(Request<StormCommand>, StormSubject)
        case task(StormTask)
    }

    private let plan: Plan
    let client: Client
    let callbacks: CallbackQueue
    let ledger: StormLedger
    private let slots = Mutex([Slot](repeating: .empty, count: 48))
    private let subjects = Mutex<[StormSubject]>([])
    private let later = DispatchGroup()
    /// Apart from the global queue, whose threads the callbacks of other tests use.
    private let laterQueue = DispatchQueue(label: "storm.later", attributes: .concurrent)

    init(_ plan: Plan, _ client: Client, _ callbacks: CallbackQueue, _ ledger: StormLedger) {
        self.plan = plan
        self.client = client
        self.callbacks = callbacks
        self.ledger = ledger
    }

    /// Runs all threads to their end.
    func rage() async {
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<Self.threads {
                group.addTask { await self.rage(thread: number) }
            }
        }
        await withCheckedContinuation { continuation in
            later.notify(queue: laterQueue) { continuation.resume() }
        }
        slots.withLock { slots in
            defer { slots = slots.map { _ in .empty } }
            return slots
        }.forEach { _ in }
    }

    private func rage(thread number: Int) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var random = StormRandom(seed: self.plan.seed &* 31 &+ UInt64(number))
                for _ in 0..<self.plan.requests / Self.threads {
                    self.makeRequest(&random)
                    for _ in 0..<random.below(3) { self.act(&random) }
                    self.keepWithinBounds()
                }
                continuation.resume()
            }
        }
    }

    private func keepWithinBounds() {
        while ledger.openRuns.load(ordering: .relaxed) + ledger.openTasks.load(ordering: .relaxed) > Self.openAtMost {
            // Pause: until requests have ended; `calm` fails where none ends.
            usleep(200)
        }
    }

    private func makeRequest(_ random: inout StormRandom) {
        let target = StormTarget.common[random.below(StormTarget.common.count)]
        let command = StormCommand(target, plan.servers, &random)
        let slot: Slot
        switch random.below(10) {
        case 0...2:
            let task = StormTask(target, command, ledger)
            task.start(client, .run)
            slot = .task(task)
        case 3...4:
            // More than the engine lets come without being read.
            let target = target == .large ? .huge : target
            let task = StormTask(target, StormCommand(target, plan.servers, &random), ledger)
            task.start(client, .stream(random.pick(StormTask.Reading.self)))
            slot = .task(task)
        default:
            let subject = StormSubject(target, way: random.pick(StormSubject.Way.self), ledger: ledger)
            subjects.withLock { $0.append(subject) }
            let request = subject.make(client, command)
            if random.oneIn(3) {
                let mischief: StormAccessory.Mischief =
                    random.oneIn(2) ? .none : random.pick(StormAccessory.Mischief.self)
                request.addAccessory(StormAccessory(subject, mischief))
            }
            subject.start(request, then: StormReaction(&random))
            slot = .request(request, subject)
        }
        let place = random.below(48)
        let dropped = slots.withLock { slots in
            defer { slots[place] = slot }
            return slots[place]
        }
        // Goes here, not under the lock.
        _ = dropped
    }

    private func act(_ random: inout StormRandom) {
        let place = random.below(48)
        switch random.below(1000) {
        case 0:
            ledger.generalStops.count { client.cancelAll() }
        case 1...30:
            look()
        case 31...60:
            drop(place)
        case 61...90:
            // Pause: a seeded part of the storm.
            usleep(UInt32(random.below(2000)))
        default:
            switch slots.withLock({ $0[place] }) {
            case .empty: break
            case .task(let task): if random.oneIn(8) { task.cancel() }
            case .request(let request, let subject): act(on: request, subject, &random)
            }
        }
    }

    private func act(on request: Request<StormCommand>, _ subject: StormSubject, _ random: inout StormRandom) {
        let then = StormReaction(&random)
        let delay = random.below(3000)
        switch random.below(20) {
        case 0:
            subject.stop(request)
        case 1:
            afterwards(delay) { subject.stop(request) }
        case 2:
            callbacks.async { subject.stopOnQueue(request) }
        case 3...7:
            request.pause()
            afterwards(delay) { request.resume() }
        case 8:
            request.pause()
            afterwards(delay) { subject.stop(request) }
        case 9...12:
            subject.start(request, then: then)
        case 13...15:
            afterwards(delay) { subject.start(request, then: then) }
        case 16:
            let accessory = StormAccessory(subject, random.pick(StormAccessory.Mischief.self))
            afterwards(delay) {
                request.addAccessory(accessory)
                subject.start(request, then: then)
            }
        case 17:
            subject.stops.count { _ = request.lease() }
        default:
            request.resume()
        }
    }

    private func afterwards(_ microseconds: Int, _ act: @escaping @Sendable () -> Void) {
        later.enter()
        laterQueue.asyncAfter(deadline: .now() + .microseconds(microseconds)) {
            act()
            self.later.leave()
        }
    }

    private func drop(_ place: Int) {
        let dropped = slots.withLock { slots in
            defer { slots[place] = .empty }
            return slots[place]
        }
        _ = dropped
    }

    /// Reads what can be read of what runs.
    private func look() {
        for request in client.requests.prefix(8) {
            _ = (request.state, request.error, request.url, request.metrics, request.attempts.count, request.tag)
            request.tag += 1
            request.userInfo["seen"] = request.response?.body.count ?? 0
        }
    }

    // MARK: After it

    /// Waits until all is over, and says what is not.
    func calm(within limit: Duration) async -> [String] {
        try? await waitUntil("nothing of the storm is left", within: limit) { unfinished.isEmpty }
        return unfinished
    }

    private var unfinished: [String] {
        var left: [String] = []
        let counts = [
            ("runs", ledger.openRuns.load(ordering: .relaxed)), ("tasks", ledger.openTasks.load(ordering: .relaxed)),
            ("accessories", ledger.openAccessories.load(ordering: .relaxed)),
        ]
        for (name, count) in counts where count != 0 { left.append("\(count) \(name) are open") }
        for request in client.requests { left.append("a request is \(request.state) at \(request.url ?? "no URL")") }
        let alive = subjects.withLock { subjects in subjects.filter(\.isAlive).map { "\($0.target) by \($0.way)" } }
        if !alive.isEmpty { left.append("requests that nobody has are alive: \(alive.prefix(5))") }
        return left
    }

    /// Compares what delegates were told with what was started, and forgets what there was.
    func settle() {
        let subjects = subjects.withLock { subjects in
            defer { subjects = [] }
            return subjects
        }
        for subject in subjects where subject.way == .delegate || subject.way == .delegateAndCompletion {
            let (calls, accepted) = (subject.delegate.calls, subject.accepted)
            let isRight =
                ledger.reportsStops || !subject.wasStopped(since: .init()) ? calls == accepted : calls <= accepted
            if !isRight {
                ledger.problem("a delegate of \(subject.target) was told \(calls) times of \(accepted) runs")
            }
        }
    }
}
