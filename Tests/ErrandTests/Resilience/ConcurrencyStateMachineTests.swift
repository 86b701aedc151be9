import Errand
import ErrandTesting
import Testing

@testable import ErrandResilience

private typealias Machine = ConcurrencyStateMachine<Int>

private func words(_ ended: [Machine.Resumption]) -> [String] {
    ended.map { resumption in
        switch resumption.result {
        case .success(let grant): "\(resumption.waiter) gets \(grant.inFlight)"
        case .failure(let failure): "\(resumption.waiter) \(failure.reason.rawValue)"
        }
    }
}

extension ConcurrencyStateMachine<Int> {
    fileprivate mutating func ask(
        _ number: Int, _ priority: Priority = .normal, until deadline: Int? = nil, at now: Int = 0, key: String = "k"
    ) -> [String] {
        let arrival = Arrival(
            number: UInt64(number), key: key, priority: priority, deadline: deadline.map { .seconds($0) })
        let (answer, ended) = permitRequested(arrival, by: number, now: .seconds(now))
        let first =
            switch answer {
            case .granted(let grant): "granted \(grant.inFlight)"
            case .waits: "waits"
            case .refused(let reason): reason.rawValue
            }
        return [first] + words(ended)
    }

    fileprivate mutating func giveBack(
        at now: Int = 0, key: String = "k", _ use: Use = .recorded(.milliseconds(1))
    ) -> [String] {
        words(permitReturned(Grant(key: key, inFlight: 1, time: .zero), as: use, now: .seconds(now)))
    }
}

@Suite struct ConcurrencyStateMachineTests {
    @Test func permitsUpToTheLimit() {
        var machine = Machine(.init(limit: 2, queueCapacity: 2))
        #expect(machine.ask(1) == ["granted 1"])
        #expect(machine.ask(2) == ["granted 2"])
        #expect(machine.ask(3) == ["waits"])
        #expect(machine.ask(9, key: "other") == ["granted 1"])
        #expect(machine.ask(4) == ["waits"])
        #expect(machine.ask(5) == ["queueFull"])
        #expect(machine.giveBack() == ["3 gets 2"])
        #expect(machine.giveBack() == ["4 gets 2"])
        #expect(machine.giveBack() == [])
        #expect(machine.inFlight(of: "k") == 1)
        #expect(machine.giveBack() == [])
        #expect(machine.giveBack(key: "other") == [])
        // Nothing is kept, and a permit that comes back again changes nothing.
        #expect(machine.keyCount == 0)
        #expect(machine.giveBack() == [])
        #expect(machine.keyCount == 0)
        #expect(machine.ask(6) == ["granted 1"])
        let counts = machine.counts
        #expect(counts.granted == 6 && counts.waited == 2 && counts.refused == 1)
    }

    @Test func theOrderOfTheQueue() {
        var machine = Machine(.init(limit: 1))
        _ = machine.ask(0)
        for (number, priority, deadline) in [
            (1, Priority.normal, nil), (2, .low, 5), (3, .normal, 9), (4, .high, nil), (5, .normal, 8),
            (6, .normal, nil),
            (7, .high, 20), (8, .normal, 8),
        ] as [(Int, Priority, Int?)] {
            #expect(machine.ask(number, priority, until: deadline) == ["waits"])
        }
        #expect(machine.waiting(of: "k") == [7, 4, 5, 8, 3, 1, 6, 2])
        var order: [String] = []
        for _ in 0..<9 { order += machine.giveBack() }
        #expect(order == [7, 4, 5, 8, 3, 1, 6, 2].map { "\($0) gets 1" })
    }

    @Test func aFullQueue() {
        var machine = Machine(.init(limit: 1, queueCapacity: 2))
        _ = machine.ask(0)
        _ = machine.ask(1, .low)
        _ = machine.ask(2, .normal)
        #expect(machine.ask(3, .low) == ["queueFull"])
        #expect(machine.ask(4, .normal) == ["waits", "1 displaced"])
        #expect(machine.ask(5, .normal, until: 1) == ["queueFull"])
        #expect(machine.ask(6, .high) == ["waits", "4 displaced"])
        #expect(machine.waiting(of: "k") == [6, 2])
        var none = Machine(.init(limit: 1, queueCapacity: 0))
        _ = none.ask(0)
        #expect(none.ask(1, .high) == ["queueFull"])
    }

    @Test func deadlines() {
        var machine = Machine(.init(limit: 1, queueCapacity: 2))
        _ = machine.ask(0)
        #expect(machine.ask(1, until: 5, at: 5) == ["waitExpired"])
        #expect(machine.ask(2, until: 5) == ["waits"])
        #expect(machine.ask(3, until: 6) == ["waits"])
        #expect(machine.waitExpired(2, of: "k", now: .milliseconds(4999)) == nil)
        #expect(machine.waitExpired(2, of: "k", now: .seconds(5)) == 2)
        #expect(machine.waitExpired(2, of: "k", now: .seconds(5)) == nil)
        #expect(machine.ask(4, .low, until: 9, at: 5) == ["waits"])
        // One that has expired makes room, and gets no permit.
        #expect(machine.ask(5, until: 10, at: 6) == ["waits", "3 waitExpired"])
        #expect(machine.giveBack(at: 9) == ["5 gets 1"])
        #expect(machine.giveBack(at: 9) == ["4 waitExpired"])
        // A deadline does not matter where nothing has to wait.
        #expect(machine.ask(6, until: 0, at: 9, key: "other") == ["granted 1"])
        #expect(machine.counts.expired == 4)
    }

    @Test func waitersThatLeave() {
        var machine = Machine(.init(limit: 1))
        _ = machine.ask(0)
        _ = machine.ask(1)
        _ = machine.ask(2)
        #expect(machine.waiterLeft(1, of: "k") == 1)
        #expect(machine.waiterLeft(1, of: "k") == nil)
        #expect(machine.waiterLeft(0, of: "k") == nil)
        #expect(machine.waiterLeft(1, of: "unknown") == nil)
        #expect(machine.giveBack() == ["2 gets 1"])
        #expect(machine.waiterLeft(2, of: "k") == nil)
        #expect(machine.inFlight(of: "k") == 1)
        #expect(machine.counts.cancelled == 1)
    }

    @Test func atOnceOrNotAtAll() {
        var machine = Machine(.init(limit: 1))
        #expect(machine.permitTaken("k", now: .zero)?.inFlight == 1)
        #expect(machine.permitTaken("k", now: .zero) == nil)
        #expect(machine.counts.refused == 1)
    }

    @Test func aDryRunRefusesNothing() {
        var machine = Machine(.init(limit: 2, queueCapacity: 3, isDryRun: true))
        for number in 1...7 { #expect(machine.ask(number, until: 0, at: 1) == ["granted \(number)"]) }
        #expect(machine.counts.wouldWait == 3 && machine.counts.wouldRefuse == 2 && machine.counts.refused == 0)
        #expect(machine.permitTaken("k", now: .zero)?.inFlight == 8)
        for _ in 0..<8 { #expect(machine.giveBack() == []) }
        #expect(machine.keyCount == 0)
    }

    /// Requests that would wait next are counted as those that wait at once.
    @Test func permitsThatAreFree() {
        var dry = Machine(.init(limit: 2, queueCapacity: 3, isDryRun: true))
        for number in 1...7 { #expect(dry.permitIfFree("k", now: .zero)?.inFlight == number) }
        #expect(dry.counts.wouldWait == 3 && dry.counts.wouldRefuse == 2 && dry.counts.granted == 7)
        var machine = Machine(.init(limit: 1))
        #expect(machine.permitIfFree("k", now: .zero)?.inFlight == 1)
        #expect(machine.permitIfFree("k", now: .zero) == nil)
        #expect(machine.counts.refused == 0 && machine.counts.granted == 1)
    }

    @Test func anAdaptiveLimit() {
        let adaptive = AdaptiveLimit.Settings(
            .aimd(.init()), initial: 2, bounds: 1...3, window: .milliseconds(100), minimumSamples: 1)
        var machine = Machine(.init(adaptive: adaptive, queueCapacity: 9, keyCapacity: 8))
        for number in 1...5 { _ = machine.ask(number) }
        #expect(machine.waiting(of: "k") == [3, 4, 5])
        #expect(machine.giveBack(at: 0) == ["3 gets 2"])
        // The window ends, and the limit grows to 3: two may go.
        #expect(machine.giveBack(at: 1) == ["4 gets 2", "5 gets 3"])
        #expect(machine.limit(of: "k") == 3)
        #expect(machine.giveBack(at: 2, .overloaded(.seconds(1))) == [])
        #expect(machine.giveBack(at: 3, .overloaded(.seconds(1))) == [])
        #expect(machine.limit(of: "k") == 2)
        #expect(machine.giveBack(at: 3, .dropped) == [])
        // An idle key keeps its limit; of too many, the one that is idle for the longest time goes.
        #expect(machine.keyCount == 1 && machine.inFlight(of: "k") == 0)
        for number in 0..<7 {
            _ = machine.ask(number, at: 4, key: "k\(number)")
            _ = machine.giveBack(at: 4 + number, key: "k\(number)", .dropped)
        }
        #expect(machine.keyCount == 8)
        _ = machine.ask(20, at: 20, key: "new")
        #expect(machine.keyCount == 9)
        _ = machine.giveBack(at: 20, key: "new", .dropped)
        #expect(machine.keyCount == 8)
        _ = machine.ask(21, at: 21, key: "k0")
        #expect(machine.keyCount == 8)
    }

    /// Keys with requests in flight do not displace the limits of idle keys, however many they are.
    @Test func manyBusyKeys() {
        let adaptive = AdaptiveLimit.Settings(
            .aimd(.init()), initial: 5, bounds: 1...9, window: .milliseconds(100), minimumSamples: 1)
        var machine = Machine(.init(adaptive: adaptive, keyCapacity: 8))
        for now in 0...1 {
            _ = machine.ask(1, at: now)
            _ = machine.giveBack(at: now, .overloaded(.seconds(1)))
        }
        #expect(machine.limit(of: "k") == 4)
        for number in 0..<100 { _ = machine.ask(number, key: "busy\(number)") }
        #expect(machine.keyCount == 101 && machine.limit(of: "k") == 4)
        for number in 0..<100 { _ = machine.giveBack(key: "busy\(number)", .dropped) }
        #expect(machine.keyCount == 8)
    }

    /// Every waiter is told once; the limit holds; none waits while a permit is free; the order is that of a sort.
    @Test(arguments: 0..<20)
    func randomWalks(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let limit = Int.random(in: 1...4, using: &random)
        let capacity = Int.random(in: 0...6, using: &random)
        var machine = Machine(.init(limit: limit, queueCapacity: capacity))
        struct Known { let number: Int, rank: Int, deadline: Int? }
        var waiting: [Known] = []
        var inFlight = 0
        var now = 0
        var number = 0

        func told(_ ended: [Machine.Resumption]) {
            for resumption in ended {
                guard let index = waiting.firstIndex(where: { $0.number == resumption.waiter }) else {
                    Issue.record("\(resumption.waiter) does not wait")
                    continue
                }
                let known = waiting.remove(at: index)
                switch resumption.result {
                case .success:
                    inFlight += 1
                    #expect(known.deadline.map { $0 > now } ?? true)
                    #expect(waiting.allSatisfy { $0.rank <= known.rank || ($0.deadline ?? .max) <= now })
                case .failure(let failure) where failure.reason == .waitExpired:
                    #expect(known.deadline.map { $0 <= now } ?? false)
                case .failure(let failure):
                    #expect(failure.reason == .displaced)
                    #expect(waiting.allSatisfy { $0.rank >= known.rank })
                }
            }
        }

        for _ in 0..<3000 {
            now += Int.random(in: 0...1, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                number += 1
                let priority = Priority.allCases.randomElement(using: &random) ?? .normal
                let deadline: Int? = Bool.random(using: &random) ? now + Int.random(in: 0...9, using: &random) : nil
                let arrival = Machine.Arrival(
                    number: UInt64(number), key: "k", priority: priority, deadline: deadline.map { .seconds($0) })
                let (answer, ended) = machine.permitRequested(arrival, by: number, now: .seconds(now))
                told(ended)
                switch answer {
                case .granted:
                    #expect(waiting.isEmpty)
                    inFlight += 1
                case .waits:
                    let rank = Priority.allCases.firstIndex(of: priority) ?? 0
                    waiting.append(Known(number: number, rank: rank, deadline: deadline))
                case .refused(.waitExpired): #expect(deadline.map { $0 <= now } ?? false)
                case .refused: #expect(waiting.count == capacity)
                }
            case 5..<8:
                guard inFlight > 0 else { break }
                inFlight -= 1
                let grant = Machine.Grant(key: "k", inFlight: 1, time: .zero)
                told(machine.permitReturned(grant, as: .dropped, now: .seconds(now)))
            case 8:
                guard let known = waiting.randomElement(using: &random) else { break }
                #expect(machine.waiterLeft(UInt64(known.number), of: "k") == known.number)
                waiting.removeAll { $0.number == known.number }
            default:
                guard let known = waiting.randomElement(using: &random) else { break }
                let isDue = known.deadline.map { $0 <= now } ?? false
                #expect((machine.waitExpired(UInt64(known.number), of: "k", now: .seconds(now)) != nil) == isDue)
                if isDue { waiting.removeAll { $0.number == known.number } }
            }
            #expect(machine.inFlight(of: "k") == inFlight && inFlight <= limit)
            #expect(Set(machine.waiting(of: "k")) == Set(waiting.map { UInt64($0.number) }))
            #expect(waiting.count <= capacity)
            #expect(waiting.isEmpty || inFlight == limit)
        }
        #expect(machine.keyCount <= 1)
    }
}
