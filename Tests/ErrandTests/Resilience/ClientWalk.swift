import Errand
import ErrandTesting
import Synchronization
import Testing

@testable import ErrandCaching
@testable import ErrandClient
@testable import ErrandModel
@testable import ErrandResilience

/// A random walk of a user over a whole client: requests, groups, calls and streams, what a user does to them, and what a
/// server and a clock do meanwhile.
final class ClientWalk: Sendable {
    private struct Top: Sendable {
        let request: AnyRequest
        let start: @Sendable () -> Void
    }

    private static let steps = 300
    /// The name that some commands give to their parts, beside the origin.
    static let name = "named"
    /// What the parts are kept by. A redirect may lead to a server that stands for the origin.
    static let keys =
        [name] + ["test", "server1", "server2", "server3"].flatMap { ["http://\($0):80", "https://\($0):443"] }

    let seed: Int
    let settings: ClientWalkSettings
    let clock: ManualClock
    let ledger = ClientWalkLedger()
    let record = RecordingAccessory()
    let server: ClientWalkServer
    let stub: StubTransport
    let client: Client
    /// `nil`: the client does not authenticate itself.
    let access: ClientWalkAccess?
    /// `nil`: the client uses no alternative services.
    let alternatives: AltServiceCache?
    private let coverage: ClientWalkCoverage
    /// The statuses of the streamed responses that have begun.
    private let heads = Mutex<[TransferID: Int]>([:])
    private let isTold = Atomic<Bool>(false)
    /// For interceptors and readers, whose tasks run in any order.
    private let taskDice: ClientWalkDice
    private let tops = Mutex<[Top]>([])
    private let tasks = Mutex<[Task<Void, Never>]>([])

    init(seed: Int, _ coverage: ClientWalkCoverage) {
        let settings = ClientWalkSettings(seed: seed)
        let clock = ManualClock()
        let taskDice = ClientWalkDice(seed: seed, purpose: 1)
        let access = settings.access.map { ClientWalkAccess($0, isInline: settings.isInline, taskDice, clock) }
        let server = ClientWalkServer(
            ClientWalkDice(seed: seed, purpose: 2), access, isSound: settings.access?.isServerSound ?? false,
            hasAlternatives: settings.hasGuards)
        let alternatives = settings.hasGuards ? AltServiceCache(clock: clock) : nil
        let stub = StubTransport(delivery: settings.isDeliveredAtOnce ? .immediate : .asynchronous) {
            server.answer($0)
        }
        let accessories: [any Accessory] = [record, EventRecorder()]
        let interceptors = ClientWalk.interceptors(settings, access, ClientWalkWhim(dice: taskDice, clock: clock))
        self.seed = seed
        self.settings = settings
        self.clock = clock
        self.taskDice = taskDice
        self.access = access
        self.server = server
        self.stub = stub
        self.coverage = coverage
        self.alternatives = alternatives
        client = Client.stubbed(stub) { configuration in
            configuration.clock = clock
            configuration.reportsStops = true
            configuration.resilience = settings.resilience
            configuration.endpoints = settings.endpoints
            configuration.altServices = alternatives
            if settings.hasGuards { configuration.hsts = HSTSStore(preloads: [.init("test")]) }
            // Sun, 06 Nov 1994 08:49:37 GMT.
            configuration.cache = ResponseCache(now: { 784_111_777_000 + Int64(clock.now.offset / .milliseconds(1)) })
            if settings.isInline { configuration.callbackQueue = .inline() }
            if settings.hasAccessories { configuration.accessories = accessories }
            configuration.interceptors = interceptors
        }
        access?.authenticator.use(client)
    }

    /// The seed, and for the first failure of the walk its steps.
    var story: String {
        let isFirst = !isTold.exchange(true, ordering: .relaxed)
        return isFirst ? "seed \(seed), steps: \(ledger.steps.all.joined(separator: ", "))" : "seed \(seed)"
    }

    private static func interceptors(
        _ settings: ClientWalkSettings, _ access: ClientWalkAccess?, _ whim: ClientWalkWhim
    ) -> [any Interceptor] {
        var interceptors: [any Interceptor] = []
        if settings.hasInterceptors {
            interceptors = [whim, Fallback(.stale(), .response(body: Array("instead".utf8)))]
        }
        guard let access, let own = settings.access else { return interceptors }
        if interceptors.isEmpty { return [access.interceptor, ClientWalkMeter(faults: access.faults)] }
        interceptors.insert(access.interceptor, at: own.isOutermost ? 0 : interceptors.count)
        return interceptors
    }

    /// Takes all steps.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<settings.threads {
                group.addTask { [self] in await drive(thread) }
            }
        }
    }

    private func drive(_ thread: Int) async {
        let dice = ClientWalkDice(seed: seed, purpose: 3 + thread)
        let maker = maker(dice)
        for number in 0..<Self.steps {
            if thread == 0 { shutDown(before: number) }
            ledger.steps.add("\(thread).\(number) \(step(dice, maker))")
            if dice.isOneIn(4) { await Task.yield() }
        }
    }

    private func maker(_ dice: ClientWalkDice) -> ClientWalkMaker {
        // The transfers that pass all parts by are counted where they arrive, and one of an alternative may arrive twice.
        ClientWalkMaker(client, ledger, clock, exempts: !settings.hasGuards, dice, taskDice)
    }

    private func shutDown(before step: Int) {
        let first = Self.steps * 2 / 3
        switch (settings.shutdown, step) {
        case (.cancel, first), (.drainThenCancel, first + 30): shutDown(.cancel)
        case (.drain, first), (.drainThenCancel, first): shutDown(.drain(within: .seconds(8)))
        default: break
        }
    }

    private func shutDown(_ mode: Client.ShutdownMode) {
        let shutdowns = ledger.shutdowns
        shutdowns.begin()
        ledger.steps.add("shut down \(mode)")
        for request in client.requests { note([], request) }
        client.shutdown(mode) { shutdowns.end() }
    }

    // MARK: What the walk has reached

    /// Something happens to a request. Counts only while that runs.
    private func note(_ features: ClientWalkFeatures, _ request: AnyRequest) {
        guard request.state == .running || request.state == .paused else { return }
        var all = settings.features.union(features).union(Self.traits(of: request))
        if ledger.shutdowns.hasBegun { all.insert(.shutdown) }
        coverage.note(all)
    }

    private static func traits(of request: AnyRequest) -> ClientWalkFeatures {
        var traits: ClientWalkFeatures = []
        switch request {
        case let single as Request<ClientWalkAsk>:
            if single.command.cache != nil { traits.insert(.cache) }
            if single.command.isChild { traits.insert(.group) }
        case let stream as Request<StreamCommand<ClientWalkAsk>>:
            traits.insert(.stream)
            if stream.command.command.cache != nil { traits.insert(.cache) }
        default:
            traits.insert(.group)
        }
        if request.state == .paused { traits.insert(.pause) }
        return traits
    }

    // MARK: Steps

    /// Takes a step, and returns its name.
    private func step(_ dice: ClientWalkDice, _ maker: ClientWalkMaker) -> String {
        if let access, dice.isOneIn(24) {
            access.disturb(dice)
            return "token"
        }
        switch dice.below(36) {
        case 0..<8:
            start(maker.ask(isAlone: true), by: maker.deadline(), isAwaited: dice.isOneIn(4))
            return "start"
        case 8..<10:
            start(maker.tree(), by: maker.deadline(), isAwaited: dice.isOneIn(4))
            return "group"
        case 10..<13:
            call(maker.ask(isAlone: true), by: maker.deadline())
            return "call"
        case 13:
            call(maker.tree(), by: maker.deadline())
            return "call of a group"
        case 14..<18:
            stream(maker.stream(), by: maker.deadline(), way: dice.below(16))
            return "stream"
        case 18..<22:
            time(dice)
            return "time"
        case 22..<30:
            return order(dice)
        default:
            for _ in 0..<1 + dice.below(5) { answer(dice) }
            return "answers"
        }
    }

    /// An order of the user. Returns its name.
    private func order(_ dice: ClientWalkDice) -> String {
        switch dice.below(10) {
        case 0..<2:
            if let top = recent(dice) { stop(top.request) }
            return "stop"
        case 2:
            if let top = recent(dice) { pause(top.request) }
            return "pause"
        case 3..<5:
            recent(dice)?.request.resume()
            return "resume"
        case 5..<7:
            recent(dice)?.start()
            return "start again"
        case 7:
            disturb(dice)
            return "disturb"
        case 8:
            dice.pick(tasks.withLock { $0 })?.cancel()
            return "cancel a task"
        default:
            guard dice.isOneIn(8) else { return "nothing" }
            for request in client.requests { note(.cancel, request) }
            client.cancelAll()
            return "cancel all"
        }
    }

    /// Time passes, or makes a stored response old.
    private func time(_ dice: ClientWalkDice) {
        if dice.isOneIn(3) {
            client.cache.invalidate(["\(settings.origin)/\(dice.below(6))"])
        } else {
            clock.advance(by: .milliseconds(dice.below(1500)))
        }
    }

    private func stop(_ request: AnyRequest) {
        note(.cancel, request)
        request.stop()
    }

    private func pause(_ request: AnyRequest) {
        note(.pause, request)
        request.pause()
    }

    private func start<C: Command>(_ command: C, by limit: Deadline?, isAwaited: Bool) {
        let request = client.request(command)
        let ends = ledger.newRequest()
        request.delegate = ends
        let top = Top(request: request, start: { ends.start(request) })
        tops.withLock { $0.append(top) }
        if let limit { Deadline.limit(to: limit) { top.start() } } else { top.start() }
        note([], request)
        guard isAwaited else { return }
        let waits = ledger.waits
        waits.begin()
        Task {
            _ = try? await request.finalValue(stopsIfCancelled: false)
            waits.end()
        }
    }

    private func call<C: Command>(_ command: C, by limit: Deadline?) {
        let client = client
        let calls = ledger.calls
        calls.begin()
        let task = Task {
            if let limit {
                await Deadline.limit(to: limit) { _ = await client.result(of: command) }
            } else {
                _ = await client.result(of: command)
            }
            calls.end()
        }
        tasks.withLock { $0.append(task) }
    }

    private func stream(_ command: ClientWalkAsk, by limit: Deadline?, way: Int) {
        let streams = ledger.streams
        streams.begin()
        let task = Task {
            if let limit {
                await Deadline.limit(to: limit) { await self.read(command, way: way) }
            } else {
                await self.read(command, way: way)
            }
            streams.end()
        }
        tasks.withLock { $0.append(task) }
    }

    /// Reads a streamed response to its end, or does something else with it.
    private func read(_ command: ClientWalkAsk, way: Int) async {
        guard let response = try? await client.stream(command) else { return }
        let request = response.request
        note([], request)
        for other in client.requests where Self.traits(of: other).contains(.group) { note(.stream, other) }
        switch way {
        // The body is released unread, which stops the request.
        case 0, 1: return
        // Leaving the loop stops it too.
        case 2, 3: do { for try await _ in response.body { break } } catch {}
        case 4, 5: stop(request)
        case 6, 7:
            pause(request)
            for _ in 0..<20 { await Task.yield() }
            request.resume()
        // Until somebody resumes it. It holds its permits meanwhile, so there are few of these.
        case 8: pause(request)
        default: break
        }
        do { for try await _ in response.body {} } catch {}
    }

    /// One of the last requests.
    private func recent(_ dice: ClientWalkDice) -> Top? {
        dice.pick(tops.withLock { Array($0.suffix(40)) })
    }

    /// Does something to any running request: a child of a group, or one that an interceptor runs.
    private func disturb(_ dice: ClientWalkDice) {
        guard let request = dice.pick(client.requests) else { return }
        switch dice.below(3) {
        case 0: stop(request)
        case 1: pause(request)
        default: request.resume()
        }
    }

    /// Ends an attempt that has stalled, unless it is paused.
    private func answer(_ dice: ClientWalkDice) {
        guard let id = dice.pick(stub.open), !stub.isPaused(id) else { return }
        checkUpload(id)
        guard stub.submitted[Int(id.rawValue) - 1].delivery == .buffered else { return answerStream(id, dice) }
        let result = server.result
        if dice.isOneIn(3) {
            let head = if case .response(let response) = result { response } else { Response(statusCode: 200) }
            stub.send(.head(head), to: id)
        }
        stub.complete(id, with: result)
    }

    /// Goes on with a streamed response that has stalled, as an engine does: the head, pieces of the body, the end.
    private func answerStream(_ id: TransferID, _ dice: ClientWalkDice) {
        let head = server.head
        let former = heads.withLock { heads -> Int? in
            if let status = heads[id] { return status }
            heads[id] = head.statusCode
            return nil
        }
        let mayFail = !server.isSound
        switch dice.below(6) {
        case 0 where mayFail:
            stub.complete(id, with: .failure(.connectionLost))
        case _ where former == nil:
            stub.send(.head(head), to: id)
        case 1..<3:
            stub.complete(id, with: .response(Response(statusCode: former ?? 200)))
        default:
            stub.send(.chunk(Response(statusCode: former ?? 200, body: Array("piece".utf8))), to: id)
        }
    }

    // MARK: The end

    /// Lets everything end, or ends it: a stop and a shutdown need no time to pass, whatever the requests wait for.
    func settle() async throws {
        let ending = settings.access?.ending ?? .answers
        if ending != .answers { await askForToken() }
        if ending == .shutdown { shutDown(.cancel) }
        do {
            try await waitUntil("every request of the walk with seed \(seed) has ended") {
                switch ending {
                case .answers: goOn()
                case .stops: client.cancelAll()
                case .shutdown: guard ledger.shutdowns.isSettled else { return false }
                }
                return ledger.isSettled && client.requests.isEmpty
            }
        } catch {
            Issue.record("\(story): \(ledger.unsettled)")
            for request in client.requests {
                Issue.record("\(story): \(type(of: request)) \(request.id) is \(request.state)")
            }
            throw error
        }
    }

    /// Nothing is paused any more, no attempt stalls, and time passes.
    private func goOn() {
        for request in client.requests { request.resume() }
        for id in stub.open { checkUpload(id) }
        stub.completeAll { _ in .response(Response(statusCode: 200)) }
        clock.advance(by: .milliseconds(500))
    }

    /// Starts requests that need another token, so that some of them may wait for a refresh.
    private func askForToken() async {
        let dice = ClientWalkDice(seed: seed, purpose: 5)
        let maker = maker(dice)
        access?.interceptor.invalidate()
        for _ in 0..<4 { start(maker.ask(isAlone: true), by: nil, isAwaited: true) }
        for _ in 0..<dice.below(40) { await Task.yield() }
    }

    /// Shuts the client down, and returns when nothing is left.
    func finish() async throws {
        shutDown(.cancel)
        try await waitUntil("the client of the walk with seed \(seed) has stopped") {
            clock.advance(by: .milliseconds(500))
            return ledger.shutdowns.isSettled
        }
        await stub.delivered()
        await client.callbacksDrained()
        do {
            try await waitUntil("nothing of the walk with seed \(seed) is left") {
                clock.advance(by: .milliseconds(500))
                return remains.isEmpty
            }
        } catch {
            Issue.record("\(story): left are \(remains)")
            throw error
        }
        access?.authenticator.use(nil)
    }

    /// Whether all requests that the walk has made are at rest.
    var isAtRest: Bool { tops.withLock { $0 }.allSatisfy(\.request.isAtRest) }
}
